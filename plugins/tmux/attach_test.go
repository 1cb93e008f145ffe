package tmux_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

func (w *worker) attach(env ...string) swarm.Attachment {
	w.t.Helper()
	a, err := w.backend.Attach(w.t.Context(), w.handle, swarm.AttachOptions{Env: env})
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// runs is what a shell has to run for an attachment.
func runs(a swarm.Attachment) string {
	var b strings.Builder
	b.WriteString("env")
	for _, name := range a.Unset {
		b.WriteString(" -u " + name)
	}
	for _, arg := range a.Command {
		b.WriteString(" '" + strings.ReplaceAll(arg, "'", `'\''`) + "'")
	}
	return b.String()
}

// seen waits until a client of the server shows the worker's window.
func (w *worker) seen() {
	w.t.Helper()
	eventually(w.t, "a client shows the window of "+w.spec.Name, func() bool {
		out, err := w.tmux("list-clients", "-F", "#{window_id}")
		return err == nil && slices.Contains(strings.Split(out, "\n"), w.parts().Window)
	})
}

// variable is what TMUX holds in a pane of the server.
func (f *fixture) variable() string {
	f.t.Helper()
	return "TMUX=" + f.mustTmux("display-message", "-p", "#{socket_path},#{pid},0")
}

// TestResize: the program on the terminal learns of its size, and a pane that shares its window is
// refused a size that it can't have.
func TestResize(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", `echo up; trap 'stty size' WINCH; while :; do sleep 0.05; done`)
	w.shows("up")
	if err := w.backend.Resize(t.Context(), w.handle, 101, 31); err != nil {
		t.Fatal(err)
	}
	w.shows("31 101")
	f.mustTmux("split-window", "-h", "-t", w.parts().Pane, "exec sleep 999")
	const want = "it shares its window with other panes"
	if err := w.backend.Resize(t.Context(), w.handle, 80, 24); !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), want) {
		t.Errorf("with a second pane: %v", err)
	}
	w.kill(gently)
	if err := w.backend.Resize(t.Context(), w.handle, 80, 24); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("after the end: %v", err)
	}
}

// TestAttach has a terminal, which is a window of another server, look at two
// workers one after the other.
func TestAttach(t *testing.T) {
	t.Parallel()
	f, terminal := newFixture(t), newFixture(t)
	first := f.spawn("first", "sleep", "999")
	second := f.spawnIn("other session", "second", "sleep", "999")
	third := f.spawn("third", "sleep", "999")

	// The socket of a server that has ended does not count as another server.
	a := first.attach("A=1", "TMUX=/gone,4194305,0")
	terminal.mustTmux("new-session", "-d", "-x", "80", "-y", "24", runs(a))
	first.seen()

	// The one that is attached runs in the worker's session now.
	f.mustTmux("new-window", "-t", first.parts().Session, "-n", "mine", runs(second.attach(f.variable()))+"; sleep 999")
	second.seen()
	if a := third.attach(f.variable()); !slices.Contains(a.Command, "switch-client") || slices.Contains(a.Command, "-k") || len(a.Unset) > 0 {
		t.Errorf("inside of the same server: %+v", a)
	}

	_, err := f.backend.Attach(t.Context(), first.handle, swarm.AttachOptions{Env: []string{terminal.variable()}})
	if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), "another tmux server") {
		t.Errorf("inside of another server: %v", err)
	}
}

// TestAttachToWhatIsGone has no window to show.
func TestAttachToWhatIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ended := f.spawn("ended", "true")
	ended.wait()
	closed := f.newWorker("closed", "sh", "-c", stubborn)
	closed.spec.Kill = swarm.KillOptions{Grace: patience}
	if err := closed.start(); err != nil {
		t.Fatal(err)
	}
	closed.says("ready")
	f.mustTmux("kill-window", "-t", closed.parts().Window)
	for _, w := range []*worker{ended, closed} {
		if a, err := f.backend.Attach(t.Context(), w.handle, swarm.AttachOptions{}); !errors.Is(err, swarm.ErrNotFound) {
			t.Errorf("%s: %+v, %v", w.spec.Name, a, err)
		}
	}
}

// TestAttachAfterMove has the user move the window to a session of their own.
func TestAttachAfterMove(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sleep", "999")
	f.mustTmux("new-session", "-d", "-s", "mine", "sleep 999")
	f.mustTmux("move-window", "-d", "-s", w.parts().Window, "-t", "mine:")
	terminal := newFixture(t)
	terminal.mustTmux("new-session", "-d", "-x", "80", "-y", "24", runs(w.attach()))
	w.seen()
	if got := w.status().Where.Parts["session"]; got != "mine" {
		t.Errorf("the session is %q", got)
	}
}

// views are the sessions of those who are attached.
func (f *fixture) views() (names []string) {
	out, err := f.tmux("list-sessions", "-F", "#{session_name}")
	if err != nil {
		return nil
	}
	for name := range strings.Lines(out) {
		if strings.HasPrefix(name, "swarm-view-") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// TestViewEndsWithItsClient has clients leave, and die, while the worker runs.
func TestViewEndsWithItsClient(t *testing.T) {
	t.Parallel()
	f, terminal := newFixture(t), newFixture(t)
	w := f.spawn("w", "sleep", "999")
	terminal.mustTmux("new-session", "-d", "sleep 999") // it has to outlive the clients
	leave := map[string]func(client, pid string){
		"detached": func(client, _ string) { f.mustTmux("detach-client", "-t", client) },
		"killed": func(_, pid string) {
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		},
	}
	for _, how := range slices.Sorted(maps.Keys(leave)) {
		terminal.mustTmux("new-session", "-d", "-x", "80", "-y", "24", runs(w.attach()))
		w.seen()
		if got := f.views(); len(got) != 1 {
			t.Fatalf("views %q", got)
		}
		client, pid, _ := strings.Cut(f.mustTmux("list-clients", "-F", "#{client_name} #{client_pid}"), " ")
		leave[how](client, pid)
		eventually(t, how+": the view is gone", func() bool { return len(f.views()) == 0 })
		if s := w.status(); s.State != swarm.StateRunning || s.Where.Parts["session"] != w.parts().Session {
			t.Errorf("%s: %+v", how, s)
		}
	}
}

// TestViewsEndWithTheWorker has two terminals see one worker, and a third one another
// worker of the same session.
func TestViewsEndWithTheWorker(t *testing.T) {
	t.Parallel()
	f, terminal := newFixture(t), newFixture(t)
	seen, other := f.spawn("seen", "sleep", "999"), f.spawn("other", "sleep", "999")
	for _, w := range []*worker{seen, seen, other} {
		terminal.mustTmux("new-session", "-d", "-x", "80", "-y", "24", runs(w.attach()))
	}
	shown := func() []string {
		out, err := f.tmux("list-clients", "-F", "#{window_name}")
		if err != nil || out == "" {
			return nil
		}
		names := strings.Split(out, "\n")
		slices.Sort(names)
		return names
	}
	eventually(t, "all are attached", func() bool { return slices.Equal(shown(), []string{"other", "seen", "seen"}) })
	for _, s := range []swarm.Status{seen.status(), other.status()} {
		if s.Where.Parts["session"] != seen.parts().Session {
			t.Errorf("a worker that is seen: %+v", s)
		}
	}
	seen.kill(gently)
	// tmux sends the clients of a session away when it ends it.
	eventually(t, "its clients have left", func() bool { return slices.Equal(shown(), []string{"other"}) })
	other.kill(gently)
	warnings, err := f.backend.Sweep(t.Context(), []swarm.Handle{seen.handle, other.handle}, nil)
	if err != nil || len(warnings) > 0 {
		t.Errorf("%q, %v", warnings, err)
	}
	eventually(t, "nothing is left", func() bool { return len(f.windows()) == 0 })
}

// TestViewGoesBack is of a client that goes back, and of one whose session
// has ended in the meantime: that must not get to see another one.
func TestViewGoesBack(t *testing.T) {
	t.Parallel()
	f, terminal := newFixture(t), newFixture(t)
	seen, other := f.spawn("seen", "sleep", "999"), f.spawn("other", "sleep", "999")
	f.mustTmux("new-session", "-d", "-s", "it's, {mine}", "-e", "PS1=", "sh")
	terminal.mustTmux("new-session", "-d", "-x", "80", "-y", "24",
		"env -u TMUX tmux -L "+f.socket+" attach-session -t \"=it's, {mine}\"")
	eventually(t, "the client is there", func() bool { out, err := f.tmux("list-clients"); return err == nil && out != "" })
	script := filepath.Join(t.TempDir(), "attach")
	enter := func(w *worker) {
		t.Helper()
		if err := os.WriteFile(script, []byte(runs(w.attach(f.variable()))+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		f.mustTmux("send-keys", "-t", "=it's, {mine}:", ". "+script, "Enter")
		w.seen()
	}
	enter(seen)
	seen.kill(gently)
	eventually(t, "the client is back", func() bool {
		return f.mustTmux("list-clients", "-F", "#{session_name}") == "it's, {mine}"
	})
	eventually(t, "the view is gone", func() bool { return len(f.views()) == 0 })

	enter(other)
	f.mustTmux("switch-client", "-c", f.mustTmux("list-clients", "-F", "#{client_name}"), "-l") // as the key does
	enter(other)
	if got := f.views(); len(got) != 1 {
		t.Errorf("views %q", got)
	}
	f.spawn("third", "sleep", "999")
	f.mustTmux("kill-session", "-t", "=it's, {mine}")
	other.kill(gently)
	eventually(t, "the client left", func() bool { return f.mustTmux("list-clients") == "" })
	eventually(t, "the view is gone", func() bool { return len(f.views()) == 0 })
}

// TestWindowsOpenedInView are the user's, and outlive the view.
func TestWindowsOpenedInView(t *testing.T) {
	t.Parallel()
	f, terminal := newFixture(t), newFixture(t)
	w := f.spawn("w", "sleep", "999")
	terminal.mustTmux("new-session", "-d", "-x", "80", "-y", "24", runs(w.attach()))
	w.seen()
	v := f.views()[0]
	f.mustTmux("new-window", "-d", "-t", "="+v+":", "-n", "mine", "sleep 999")
	f.mustTmux("detach-client", "-s", "="+v)
	eventually(t, "the client left", func() bool { return f.mustTmux("list-clients") == "" })
	w.kill(gently)
	if diff := cmp.Diff([]string{v + ":mine"}, f.windows()); diff != "" {
		t.Error(diff)
	}
}
