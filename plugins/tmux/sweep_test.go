package tmux_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.config("set -g remain-on-exit on")
	ended, running := f.spawn("ended", "sh", "-c", "echo ready; read line"), f.spawn("running", "sleep", "999")
	ended.says("ready")
	session := ended.parts().Session
	sweep := func(running ...swarm.Handle) []string {
		t.Helper()
		warnings, err := f.backend.Sweep(t.Context(), []swarm.Handle{ended.handle}, running)
		if err != nil {
			t.Fatal(err)
		}
		return warnings
	}
	ended.kill(gently)
	if got := sweep(running.handle); len(got) > 0 {
		t.Errorf("a session in use: %q", got)
	}
	// A worker that is not in the list of the running ones has just been started.
	if got := sweep(); len(got) > 0 {
		t.Errorf("a session in which a worker starts: %q", got)
	}
	if s := running.status(); s.State != swarm.StateRunning {
		t.Errorf("status %+v", s)
	}
	f.mustTmux("new-window", "-d", "-t", "="+session+":", "-n", "mine", "sleep 999")
	running.kill(gently)
	want := []string{"tmux session '" + session + "' was kept: it has windows that are not swarm's"}
	if diff := cmp.Diff(want, sweep()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{session + ":mine"}, f.windows()); diff != "" {
		t.Error(diff)
	}
	f.mustTmux("kill-window", "-t", "="+session+":mine")
	if got := sweep(); len(got) > 0 {
		t.Errorf("a session that is gone: %q", got)
	}
}

// TestSweepDeadWindow has a window stay after its worker.
func TestSweepDeadWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", "read line")
	f.mustTmux("set-option", "-w", "-t", w.parts().Window, "remain-on-exit", "on")
	f.mustTmux("send-keys", "-t", w.parts().Pane, "Enter")
	w.wait()
	eventually(t, "the pane is dead", func() bool {
		return f.mustTmux("list-panes", "-a", "-F", "#{pane_dead}") == "1"
	})
	if warnings, err := f.backend.Sweep(t.Context(), []swarm.Handle{w.handle}, nil); err != nil || len(warnings) > 0 {
		t.Errorf("%q, %v", warnings, err)
	}
	if got := f.windows(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// TestUserSession has workers in a session of the user's, whose name is the
// beginning of another's.
func TestUserSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustTmux("-f", "/dev/null", "new-session", "-d", "-s", "my work 2", "-n", "mine", "sleep 999")
	first := f.spawnIn("my work", "first", "sleep", "999")
	f.mustTmux("new-session", "-d", "-s", "user", "-n", "mine", "sleep 999")
	a, b := f.spawnIn("user", "a", "sleep", "999"), f.spawnIn("user", "b", "sleep", "999")
	want := []string{"my work 2:mine", "my work:first", "user:a", "user:b", "user:mine"}
	if diff := cmp.Diff(want, f.windows()); diff != "" {
		t.Error(diff)
	}
	var ended []swarm.Handle
	for _, w := range []*worker{first, a, b} {
		w.kill(gently)
		ended = append(ended, w.handle)
	}
	warnings, err := f.backend.Sweep(t.Context(), ended, nil)
	if err != nil || len(warnings) > 0 {
		t.Errorf("%q, %v", warnings, err)
	}
	if diff := cmp.Diff([]string{"my work 2:mine", "user:mine"}, f.windows()); diff != "" {
		t.Error(diff)
	}
}

// TestTwoStateDirectories share a session by their users' wish.
func TestTwoStateDirectories(t *testing.T) {
	t.Parallel()
	f, g := newFixture(t), newFixture(t)
	g.socket = f.socket
	if a, b := f.spawn("w", "sleep", "999").parts(), g.spawn("w", "sleep", "999").parts(); a.Session == b.Session || a.Socket != b.Socket {
		t.Errorf("places %+v and %+v", a, b)
	}
	a, b := f.spawnIn("shared", "w", "sleep", "999"), g.spawnIn("shared", "w", "sleep", "999")
	a.kill(gently)
	warnings, err := f.backend.Sweep(t.Context(), []swarm.Handle{a.handle}, nil)
	if err != nil || len(warnings) != 1 {
		t.Errorf("%q, %v", warnings, err)
	}
	if s := b.status(); s.State != swarm.StateRunning {
		t.Errorf("the other's worker: %+v", s)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sleep", "999")
	lookup := swarm.Lookup{ID: w.spec.ID, Name: "w", Options: w.spec.Options, Local: w.spec.Local}
	h, err := f.backend.Find(t.Context(), lookup)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(w.handle.Data), string(h.Data)); diff != "" {
		t.Error(diff)
	}
	w.kill(gently)
	h, err = f.backend.Find(t.Context(), lookup)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := f.backend.Status(t.Context(), h); err != nil || s.State != swarm.StateExited || s.Where.Parts["window"] != "w" {
		t.Errorf("status %+v, %v", s, err)
	}
	lookup.ID = "unknown-id"
	if _, err := f.backend.Find(t.Context(), lookup); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("error %v", err)
	}
}

// TestFirstAndLastLines has a worker that is gone at once.
func TestFirstAndLastLines(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", "seq 1 5000")
	w.wait()
	lines := w.lines()
	if len(lines) != 5000 || lines[0] != "1" || lines[4999] != "5000" {
		t.Errorf("%d lines: %q", len(lines), strings.Join(lines[:min(3, len(lines))], " "))
	}
	var last []string
	err := f.backend.Output(t.Context(), w.handle, swarm.OutputOptions{Tail: new(1), Follow: true}, func(o swarm.Output) error {
		last = append(last, strings.TrimSuffix(string(o.Data), "\r"))
		return nil
	})
	if err != nil || !slices.Equal(last, []string{"5000"}) {
		t.Errorf("last %q, %v", last, err)
	}
}
