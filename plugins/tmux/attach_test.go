package tmux_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

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
		b.WriteString(" '" + arg + "'")
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

// TestAttach has a terminal, which is a window of another server, look at two
// workers one after the other.
func TestAttach(t *testing.T) {
	t.Parallel()
	f, terminal := newFixture(t), newFixture(t)
	first := f.spawn("first", "sleep", "999")
	second := f.spawnIn("other session", "second", "sleep", "999")
	third := f.spawn("third", "sleep", "999")

	// What is left of a server that has ended is no other server.
	a := first.attach("A=1", "TMUX=/gone,4194305,0")
	terminal.mustTmux("new-session", "-d", "-x", "80", "-y", "24", runs(a))
	first.seen()

	// The one that is attached runs in the worker's session now.
	f.mustTmux("new-window", "-t", first.parts().Session, "-n", "mine", runs(second.attach(f.variable()))+"; sleep 999")
	second.seen()
	if a := third.attach(f.variable()); !slices.Contains(a.Command, "switch-client") || len(a.Unset) > 0 {
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
	id := f.mustTmux("display-message", "-p", "-t", "mine:", "#{session_id}")
	if a := w.attach(); !strings.HasPrefix(a.Command[len(a.Command)-1], id+":"+w.parts().Window) {
		t.Errorf("got %+v", a)
	}
}
