package host

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A database that somebody keeps locked does not stand between a user and a kill;
// the end is recorded when it is free.
func TestKillWhileDatabaseIsLocked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w", "one", ephemeral)
	other := rigIn(t, r.root)
	reg, err := other.store.Writing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	signalled := make(chan struct{})
	r.one.onKill = func(context.Context, fakeWorker, swarm.KillOptions) (swarm.KillResult, error) {
		close(signalled)
		return swarm.KillResult{}, nil
	}
	locked := make(chan struct{})
	var locking sync.WaitGroup
	locking.Go(func() {
		err := reg.Change(t.Context(), func(context.Context, *registry.Tx) error {
			close(locked)
			<-signalled
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-locked
	began := time.Now()
	out := r.kill(t, Selection{Names: []string{"w"}}, KillRequest{})
	locking.Wait()
	if took := time.Since(began); took > 8*time.Second || len(out[0].Warnings) > 0 {
		t.Errorf("it took %s, with %v", took, out[0].Warnings)
	}
	if got := r.linesOf(t, "w"); got[len(got)-1] != "[w] KILLED: by orchestrator" {
		t.Errorf("history %q", got)
	}
	r.gone(t, "w")
}

// One that is done and unlisted does not stay for ever, whatever its policy.
func TestCompletedEphemeralIsForced(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	gentle := func(q *SpawnRequest) { q.Kill = &swarm.KillOptions{Grace: time.Second} }
	for _, w := range []Worker{r.spawn(t, "kept", "one", gentle), r.spawn(t, "gone", "one", gentle, ephemeral)} {
		if err := r.complete(t, w, "done"); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.one.completes; len(got) != 2 || got[0].Force || !got[1].Force {
		t.Errorf("completed with %+v", got)
	}
}

// An ephemeral worker that ignores the signal is dead before its record goes.
func TestEphemeralIsDeadFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w", "one", ephemeral)
	asked, end := make(chan struct{}), make(chan struct{})
	r.one.onKill = func(context.Context, fakeWorker, swarm.KillOptions) (swarm.KillResult, error) {
		close(asked)
		<-end
		return swarm.KillResult{}, nil
	}
	other := rigIn(t, r.root)
	other.usePlugins(r.plugins)
	var killing sync.WaitGroup
	killing.Go(func() {
		if _, err := other.Kill(t.Context(), Selection{Names: []string{"w"}}, KillRequest{}); err != nil {
			t.Error(err)
		}
	})
	<-asked
	if w := r.get(t, "w"); w.Status != StatusRunning {
		t.Errorf("while it ignores the signal: %+v", w)
	}
	r.told(t, "w", "SPAWNED", "KILL REQUESTED")
	if _, err := r.Spawn(t.Context(), r.request("w", "one")); !errors.Is(err, ErrExists) {
		t.Errorf("its name is taken: %v", err)
	}
	close(end)
	killing.Wait()
	r.told(t, "w", "SPAWNED", "KILL REQUESTED", "KILLED: by orchestrator")
	r.gone(t, "w")
}

// One that can't be ended stays, and says so.
func TestEphemeralSurvives(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w", "one", ephemeral)
	r.one.onKill = func(context.Context, fakeWorker, swarm.KillOptions) (swarm.KillResult, error) {
		return swarm.KillResult{Status: swarm.Status{State: swarm.StateRunning}}, swarm.ErrSurvivors
	}
	if out := r.kill(t, Selection{Names: []string{"w"}}, KillRequest{}); !errors.Is(out[0].Err, swarm.ErrSurvivors) {
		t.Errorf("%+v", out)
	}
	r.told(t, "w", "SPAWNED", "KILL REQUESTED")
	if w := r.get(t, "w"); w.Status != StatusRunning {
		t.Errorf("%+v", w)
	}
}

// The history tells of an interrupted spawn what became of it.
func TestHistoryOfInterruptedSpawns(t *testing.T) {
	t.Parallel()
	for step, want := range map[string][]string{
		"before": {"FAILED: spawn was interrupted"},
		"after":  {"SPAWNED"},
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			crashAt(t, root, step)
			r := rigIn(t, root)
			r.spawn(t, "x", "one")
			r.spawn(t, "y", "one")
			r.told(t, "w1", want...)
		})
	}
}

// A kill with the removal of the workspace removes everything of an ephemeral worker.
func TestEphemeralWorkspace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "clean", "one", ephemeral, withTree)
	if out := r.kill(t, Selection{Names: []string{"clean"}}, KillRequest{RemoveWorkspace: true}); !out[0].WorkspaceRemoved {
		t.Errorf("%+v", out)
	}
	r.told(t, "clean", "SPAWNED", "KILL REQUESTED", "KILLED: by orchestrator")
	r.spawn(t, "dirty", "one", ephemeral, withTree)
	r.tree.kept = &swarm.Kept{Reason: "worktree has 1 uncommitted change(s)", Forceable: true}
	if out := r.kill(t, Selection{Names: []string{"dirty"}}, KillRequest{RemoveWorkspace: true}); out[0].WorkspaceRemoved || len(out[0].Warnings) != 1 {
		t.Errorf("%+v", out)
	}
	kept := "WORKTREE KEPT: " + r.tree.dir + "/dirty"
	r.told(t, "dirty", "SPAWNED", "KILL REQUESTED", "KILLED: by orchestrator", kept)
	// A clean that must keep it says so too.
	r.spawn(t, "stays", "one", withTree)
	r.kill(t, Selection{Names: []string{"stays"}}, KillRequest{})
	if out, err := r.Clean(t.Context(), Selection{Names: []string{"stays"}}, CleanRequest{}); err != nil || out[0].Err != nil {
		t.Fatal(out, err)
	}
	r.told(t, "stays", "SPAWNED", "KILL REQUESTED", "KILLED: by orchestrator", "WORKTREE KEPT: "+r.tree.dir+"/stays", "CLEANED")
}

// A wait that comes after the end, and after who recorded it, tells the exit too.
func TestWaitForDeparted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	codes := func(names ...string) (got []int, err error) {
		err = r.Wait(t.Context(), Selection{Names: names}, func(w Worker) { got = append(got, w.Exit.Code) })
		slices.Sort(got)
		return got, err
	}
	for i, name := range []string{"a", "b"} {
		w := r.spawn(t, name, "one", ephemeral)
		r.one.end(t, name, swarm.Exit{Code: 3 + i})
		if _, err := r.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.gone(t, w.Name)
	}
	kept := r.spawn(t, "kept", "one")
	r.one.end(t, "kept", swarm.Exit{Code: 9})
	if got, err := codes("a", "b", kept.ID, "a"); err != nil || !slices.Equal(got, []int{3, 4, 9}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := r.Clean(t.Context(), Selection{Names: []string{"kept"}}, CleanRequest{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kept", "ghost"} {
		if got, err := codes("a", name); !errors.Is(err, ErrNotFound) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
