package tmux_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// freeze stops the server of the fixture until the returned function is called.
func (f *fixture) freeze() (thaw func()) {
	f.t.Helper()
	pid, err := strconv.Atoi(f.mustTmux("display-message", "-p", "#{pid}"))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGSTOP)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	thaw = func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	f.t.Cleanup(thaw)
	return thaw
}

// TestFrozenServers looks at workers of one server that answers and of several that do not, more
// than once: the order of the servers is not determined. The answer of the one is not affected.
func TestFrozenServers(t *testing.T) {
	t.Parallel()
	good := newFixture(t)
	w := good.spawn("w", "sh", "-c", "echo this is w; exec sleep 999")
	w.shows("this is w")
	handles := []swarm.Handle{w.handle}
	for range 5 {
		f := newFixture(t)
		f.backend = good.backend
		handles = append(handles, f.spawn("w", "sleep", "999").handle)
		f.freeze()
	}
	for _, lines := range []int{0, 0, 0, 3, 3} {
		screens, err := good.backend.ScreenBatch(t.Context(), handles, swarm.ScreenOptions{Lines: lines})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range screens {
			if i == 0 && (r.Err != nil || !slices.Equal(r.Screen.Lines, []string{"this is w"})) {
				t.Errorf("%d lines: the server that answers: %+v", lines, r)
			}
			if i > 0 && (!errors.Is(r.Err, swarm.ErrUnavailable) || !strings.Contains(r.Err.Error(), "did not answer")) {
				t.Errorf("%d lines: a server that does not answer: %+v", lines, r)
			}
		}
	}
	good.mustTmux("rename-window", "-t", w.parts().Window, "renamed")
	statuses, err := good.backend.StatusBatch(t.Context(), handles)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range statuses {
		want := "w"
		if i == 0 {
			want = "renamed"
		}
		if r.Err != nil || r.Status.State != swarm.StateRunning || r.Status.Where.Parts["window"] != want {
			t.Errorf("status %d: %+v", i, r)
		}
	}
	if _, err := good.backend.Attach(t.Context(), handles[1], swarm.AttachOptions{}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("attach: %v", err)
	}
}

// TestSpawnOnFrozenServer starts a worker on a server that is stopped: the start ends within its
// limit, says meanwhile what it waits for, and leaves nothing, also when the server continues.
func TestSpawnOnFrozenServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.spawn("first", "sleep", "999")
	thaw := f.freeze()
	w := f.newWorker("w", "sh", "-c", stubborn)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := f.backend.Spawn(ctx, w.spec)
		failed <- err
	}()
	enough := errors.New("enough")
	eventually(t, "the spawn says what it waits for", func() bool {
		err := f.backend.Progress(ctx, w.spec.ID, func(text string) error {
			if want := "waiting for the tmux server '" + f.socket + "' to answer"; text != want {
				t.Errorf("text %q, want %q", text, want)
			}
			return enough
		})
		return errors.Is(err, enough)
	})
	err := <-failed
	if !errors.Is(err, swarm.ErrUnavailable) || ctx.Err() != nil || !strings.Contains(err.Error(), "'"+f.socket+"' did not answer within 10s") {
		t.Errorf("error %v", err)
	}
	thaw()
	eventually(t, "the window of the first worker alone is left", func() bool {
		return len(w.carriers()) == 0 && slices.Equal(f.windows(), []string{first.parts().Session + ":first"})
	})
	// The commands of the start may have come late. Another look is behind them.
	f.mustTmux("display-message", "-p", "")
	if got := f.windows(); len(got) != 1 || len(w.carriers()) > 0 {
		t.Errorf("left: %q, %v", got, w.carriers())
	}
}

// TestKillOnFrozenServer kills workers of a server that is stopped, one with a signal that leaves
// it no time: they end, and the sweep names the server once.
func TestKillOnFrozenServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var handles []swarm.Handle
	for _, name := range []string{"one", "two"} {
		handles = append(handles, f.spawnIn("s", name, "sleep", "999").handle)
	}
	used := f.spawnIn("s", "three", "sleep", "999").handle
	good := newFixture(t)
	good.backend = f.backend
	other := good.spawn("other", "sleep", "999")
	thaw := f.freeze()
	for i, o := range []swarm.KillOptions{{Signal: "SIGKILL", Force: true}, gently} {
		r, err := f.backend.Kill(t.Context(), handles[i], o)
		if err != nil || r.Status.State != swarm.StateExited {
			t.Errorf("kill %d: %+v, %v", i, r, err)
		}
	}
	other.kill(gently)
	warnings, err := f.backend.Sweep(t.Context(), append(handles, other.handle), []swarm.Handle{used})
	want := []string{"the tmux server '" + f.socket + "' does not answer: it closes the windows of the workers that have ended once it continues"}
	if err != nil || !slices.Equal(warnings, want) {
		t.Errorf("warnings %q, %v, want %q", warnings, err, want)
	}
	thaw()
	eventually(t, "the windows of the others are closed", func() bool { return slices.Equal(f.windows(), []string{"s:three"}) })
}
