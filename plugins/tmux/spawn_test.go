package tmux_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestSpawn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	sum := sha256.Sum256([]byte(f.state))
	session := "swarm-" + hex.EncodeToString(sum[:4])
	w := f.spawn("v1.2", "sh", "-c", "echo ready; exec sleep 999")
	f.spawn("v1.20", "sleep", "999")
	w.says("ready")
	// There is no window but those of the workers.
	if diff := cmp.Diff([]string{session + ":v1.2", session + ":v1.20"}, f.windows()); diff != "" {
		t.Error(diff)
	}
	s := w.status()
	want := swarm.Where{
		Kind: "tmux window", Name: session + ":v1.2",
		Parts: map[string]string{"session": session, "window": "v1.2", "socket": f.socket, "pane": w.parts().Pane},
	}
	if diff := cmp.Diff(want, s.Where); diff != "" {
		t.Error(diff)
	}
	if s.State != swarm.StateRunning || s.PID == 0 {
		t.Errorf("status %+v", s)
	}
	if got, want := w.parts().Socket, f.mustTmux("display-message", "-p", "#{socket_path}"); got != want || !filepath.IsAbs(got) {
		t.Errorf("socket %s, want %s", got, want)
	}
}

// TestWindowIsRenamed has the user change names.
func TestWindowIsRenamed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sleep", "999")
	f.mustTmux("rename-window", "-t", w.parts().Window, "my: window")
	f.mustTmux("rename-session", "-t", "="+w.parts().Session, "mine")
	if got := w.status().Where.Name; got != "mine:my: window" {
		t.Errorf("where %q", got)
	}
	w.kill(gently)
	if got := f.windows(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
	if got := w.status().Where.Parts["window"]; got != "w" {
		t.Errorf("the window that is gone was %q", got)
	}
}

// TestUserConfig has settings that would disturb windows of our own.
func TestUserConfig(t *testing.T) {
	t.Parallel()
	for name, hooks := range map[string][]string{
		"settings": nil,
		"hooks": {
			"set-hook -g after-new-window 'rename-window hooked'",
			"set-hook -g after-new-session 'rename-window hooked'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.config(append(hooks,
				"set -g destroy-unattached on",
				"set -g exit-unattached on",
				"set -g remain-on-exit on",
				"set -g base-index 1",
				"set -g pane-base-index 1",
				"set -g renumber-windows on",
				"set -g automatic-rename on",
				"set -g allow-rename on",
				"set -g set-titles on",
				"set -g prefix C-a",
				"unbind -a",
				"set -g default-command 'echo no; sleep 1'",
				"set -g default-shell /bin/false",
			)...)
			brief := f.spawn("brief", "sh", "-c", "echo first; echo last; exit 3")
			if s := brief.wait(); s.Exit == nil || s.Exit.Code != 3 {
				t.Errorf("status %+v", s)
			}
			a := f.spawn("a", "sh", "-c", `printf '\033ktitle\033\\'; echo ready; exec sleep 999`)
			a.says("\x1bktitle\x1b\\ready")
			b := f.spawn("b", "sleep", "999")
			session := a.parts().Session
			eventually(t, "the brief worker's window is gone", func() bool {
				return cmp.Equal(f.windows(), []string{session + ":a", session + ":b"})
			})
			if diff := cmp.Diff([]string{"first", "last"}, brief.lines()); diff != "" {
				t.Error(diff)
			}
			a.kill(gently)
			if diff := cmp.Diff([]string{session + ":b"}, f.windows()); diff != "" {
				t.Error(diff)
			}
			b.kill(gently)
		})
	}
}

// TestHooksThatEndSessions has hooks that make tmux destroy sessions which no client shows: the
// session of the first worker has none. They still run, and the worker stays.
func TestHooksThatEndSessions(t *testing.T) {
	t.Parallel()
	for name, hooks := range map[string][]string{
		"session-created": {"set-hook -g session-created 'set-option destroy-unattached on'"},
		"several": {
			"set-hook -g session-created[3] 'set-option destroy-unattached on'",
			"set-hook -g session-created[7] 'set-option -t \"#{hook_session}\" destroy-unattached on'",
		},
		"after-new-session": {"set-hook -g after-new-session 'set-option destroy-unattached on'"},
		"after-new-window":  {"set-hook -g after-new-window 'set-option destroy-unattached on'"},
		"window-linked":     {"set-hook -g window-linked 'set-option destroy-unattached on'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.config(append(hooks, "set-hook -ga session-created 'set-option @seen yes'",
				"set-hook -g window-renamed 'set-option @renamed yes'")...)
			w := f.spawn("w", "sh", "-c", "echo ready; exec sleep 999")
			w.says("ready")
			second := f.spawn("second", "sleep", "999")
			for range 3 {
				f.mustTmux("display-message", "-p", "") // a client that leaves has tmux look at all sessions
			}
			for _, w := range []*worker{w, second} {
				if s := w.status(); s.State != swarm.StateRunning {
					t.Errorf("%s: %+v, exit %+v", w.spec.Name, s, s.Exit)
				}
			}
			for _, option := range []string{"@seen", "@renamed"} {
				if got, err := f.tmux("show-options", "-v", "-t", "="+w.parts().Session+":", option); got != "yes" {
					t.Errorf("the user's hook has set %s to %q, %v", option, got, err)
				}
			}
			if got := f.mustTmux("show-hooks", "-w", "-t", w.parts().Pane); strings.Contains(got, "window-renamed[") {
				t.Errorf("hooks of the window: %s", got)
			}
		})
	}
}

// TestEnvironment looks at what worker, shim and server know of the caller.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustTmux("-f", "/dev/null", "new-session", "-d", "-s", "user", "sleep 999")
	stale := f.spawn("stale", "sh", "-c", `echo "${LATE-unset} ${SWARM_SHIM-unset}"; exec sleep 999`)
	stale.says("unset unset")
	f.env = append(slices.Clone(f.env), "LATE=now", "SWARM_DIR=/elsewhere", "TMUX=/nowhere,1,0", "TMUX_PANE=%77", "TERM=dumb")
	w := f.spawn("w", "sh", "-c", `echo "$LATE $SWARM_DIR $TERM $TMUX_PANE"; exec sleep 999`)
	w.says("now /elsewhere " + f.mustTmux("show-options", "-gv", "default-terminal") + " " + w.parts().Pane)

	own := newFixture(t)
	own.env = append(f.env, "SWARM_WORKER_ID=outer")
	first := own.spawn("first", "sleep", "999")
	shimProc, err := proc.Read(first.facts().Shim.PID)
	if err != nil {
		t.Fatal(err)
	}
	// The first window comes with the session, the second one into it.
	for _, w := range []*worker{first, own.spawn("second", "sleep", "999")} {
		if got, _ := proc.Getenv(w.facts().Shim.PID, swarm.EnvShim); got != w.spec.ID {
			t.Errorf("the %s of the shim of %s is %q", swarm.EnvShim, w.spec.Name, got)
		}
	}
	if got, ok := proc.Getenv(shimProc.Parent, swarm.EnvShim); !ok {
		t.Errorf("the server's %s is %q", swarm.EnvShim, got)
	}
	for _, name := range []string{"SWARM_WORKER_ID", "SWARM_DIR", "TMUX"} {
		if got, ok := proc.Getenv(shimProc.Parent, name); ok {
			t.Errorf("the server's %s is %q", name, got)
		}
	}
	users, err := strconv.Atoi(own.mustTmux("new-window", "-d", "-t", first.parts().Session+":", "-P", "-F", "#{pane_pid}", "sleep 999"))
	if err != nil {
		t.Fatal(err)
	}
	// Before it runs its program it has the environment of the server.
	eventually(t, "the user's window runs its program", func() bool {
		p, err := proc.Read(users)
		return err == nil && !strings.HasPrefix(p.Name, "tmux")
	})
	if got, ok := proc.Getenv(users, swarm.EnvShim); ok {
		t.Errorf("the %s of a user's window is %q", swarm.EnvShim, got)
	}
	if got := own.mustTmux("show-environment", "-g"); strings.Contains(got, "SWARM_") || !strings.Contains(got, "LATE=now") {
		t.Errorf("the environment of new windows:\n%s", got)
	}
}

// TestSocketDirectory has a caller with another directory for sockets than those
// who come later.
func TestSocketDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dir := filepath.Join(t.TempDir(), "a: b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f.env = append(slices.Clone(f.env), "TMUX_TMPDIR="+dir)
	w := f.spawn("w", "sleep", "999")
	f.mustTmux("rename-window", "-t", w.parts().Window, "renamed")
	if got := w.parts().Socket; !strings.HasPrefix(got, dir+"/") {
		t.Errorf("socket %s", got)
	}
	if got := w.status().Where.Parts["window"]; got != "renamed" {
		t.Errorf("window %q", got)
	}
	lookup := swarm.Lookup{ID: w.spec.ID, Name: "w", Options: w.spec.Options, Local: w.spec.Local}
	if h, err := f.backend.Find(t.Context(), lookup); err != nil || !cmp.Equal(h, w.handle) {
		t.Errorf("found %s, %v", h.Data, err)
	}
	w.kill(gently)
	if got := f.windows(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// TestStrangePaths has names that tmux would expand, or take for commands.
func TestStrangePaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.state = filepath.Join(f.state, strings.Repeat("long", 50), "a b", "#{pid} %H $HOME 'ü';")
	w := f.newWorker("w", "sh", "-c", `pwd; printf '%s\n' "$@"; exec sleep 999`, "sh", "a;", ";", "#{pid}", "$HOME", "")
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.says("$HOME")
	if diff := cmp.Diff([]string{f.state, "a;", ";", "#{pid}", "$HOME"}, w.lines()[:5]); diff != "" {
		t.Error(diff)
	}
	if got := f.mustTmux("display-message", "-p", "-t", "="+w.parts().Session+":", "#{session_path}"); got != f.state {
		t.Errorf("new windows begin in %s", got)
	}
	w.kill(gently)
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const n = 50
	workers := make([]*worker, n)
	for i := range workers {
		workers[i] = f.newWorker(fmt.Sprintf("w%d", i), "sleep", "999")
	}
	var started sync.WaitGroup
	for _, w := range workers {
		started.Go(func() {
			if err := w.start(); err != nil {
				t.Errorf("%s: %v", w.spec.Name, err)
			}
		})
	}
	started.Wait()
	if t.Failed() {
		return
	}
	if got := f.windows(); len(got) != n {
		t.Errorf("%d windows", len(got))
	}
	handles := make([]swarm.Handle, n)
	for i, w := range workers {
		handles[i] = w.handle
	}
	results, err := f.backend.StatusBatch(t.Context(), handles)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Err != nil || r.Status.State != swarm.StateRunning || r.Status.Where.Parts["window"] != workers[i].spec.Name {
			t.Errorf("%s: %+v, %v", workers[i].spec.Name, r.Status, r.Err)
		}
	}
	var ended sync.WaitGroup
	for _, w := range workers {
		ended.Go(func() {
			if _, err := w.backend.Kill(t.Context(), w.handle, gently); err != nil {
				t.Errorf("%s: %v", w.spec.Name, err)
			}
		})
	}
	ended.Wait()
	if got := f.windows(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// TestSessionComesAndGoes has workers end while others are started: with the last
// one go the session and the server.
func TestSessionComesAndGoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var done sync.WaitGroup
	for i := range 3 {
		done.Go(func() {
			for j := range 15 {
				w := f.newWorker(fmt.Sprintf("w%d-%d", i, j), "sleep", "999")
				if err := w.start(); err != nil {
					t.Errorf("%s: %v", w.spec.Name, err)
					return
				}
				if _, err := w.backend.Kill(t.Context(), w.handle, gently); err != nil {
					t.Errorf("%s: %v", w.spec.Name, err)
				}
			}
		})
	}
	done.Wait()
	if got := f.windows(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

func TestSpawnRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*swarm.Spec)
		is     error
	}{
		"no such command":   {func(s *swarm.Spec) { s.Command = []string{"swarm-no-such-command"} }, swarm.ErrInvalidSpec},
		"no such directory": {func(s *swarm.Spec) { s.Dir = "/swarm/no/such/directory" }, swarm.ErrInvalidSpec},
		"no such shim":      {func(s *swarm.Spec) { s.Local.Shim = "/swarm/no/such/shim" }, swarm.ErrUnavailable},
		"session":           {func(s *swarm.Spec) { s.Options["session"] = "a.b" }, swarm.ErrInvalidSpec},
		"option":            {func(s *swarm.Spec) { s.Options["color"] = "red" }, swarm.ErrInvalidSpec},
		"socket":            {func(s *swarm.Spec) { s.Options["socket"] = "/tmp/x" }, swarm.ErrInvalidSpec},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			w := f.newWorker("w", "sleep", "999")
			test.change(&w.spec)
			err := w.start()
			if !errors.Is(err, test.is) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v", err)
			}
			if got := f.windows(); len(got) > 0 {
				t.Errorf("left: %v", got)
			}
			if left := w.carriers(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			for _, name := range []string{rundir.LaunchFile, rundir.ReadyFIFO, rundir.Socket} {
				if _, err := os.Lstat(filepath.Join(w.spec.Local.RunDir, name)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s is left: %v", name, err)
				}
			}
		})
	}
}

// TestSpawnCancelled ends the context at all stages of a start.
func TestSpawnCancelled(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			w := f.newWorker("w", "sh", "-c", stubborn)
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
			defer cancel()
			h, err := w.backend.Spawn(ctx, w.spec)
			if err == nil {
				w.handle = h
				w.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true})
				return
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			eventually(t, "nothing is left", func() bool { return len(w.carriers()) == 0 && len(f.windows()) == 0 })
		})
	}
}
