package kill_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A database that another process keeps locked does not stand between a user and a kill;
// the end is recorded when it is free.
func TestKillWhileDatabaseIsLocked(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one", hosttest.Ephemeral)
	other := hosttest.NewIn(t, r.Root)
	reg, err := other.Store().ToWrite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	signalled := make(chan struct{})
	r.One.OnKill = func(context.Context, hosttest.Worker, swarm.KillOptions) (swarm.KillResult, error) {
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
	out := r.MustKill(t, worker.Selection{Names: []string{"w"}}, kill.Request{})
	locking.Wait()
	if took := time.Since(began); took > 8*time.Second || len(out[0].Warnings) > 0 {
		t.Errorf("it took %s, with %v", took, out[0].Warnings)
	}
	if got := r.HistoryLines(t, "w"); got[len(got)-1] != "[w] KILLED: by orchestrator" {
		t.Errorf("history %q", got)
	}
	r.WantGone(t, "w")
}

// One that is done and unlisted does not stay permanently, whatever its policy.
func TestCompletedEphemeralIsForced(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	gentle := func(q *spawn.Request) { q.Kill = &swarm.KillOptions{Grace: time.Second} }
	for _, w := range []worker.Worker{r.MustSpawn(t, "kept", "one", gentle), r.MustSpawn(t, "gone", "one", gentle, hosttest.Ephemeral)} {
		if err := r.CompleteInside(t, w, "done"); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.One.Completes; len(got) != 2 || got[0].Force || !got[1].Force {
		t.Errorf("completed with %+v", got)
	}
}

// An ephemeral worker that ignores the signal is dead before its record goes.
func TestEphemeralIsDeadFirst(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one", hosttest.Ephemeral)
	asked, end := make(chan struct{}), make(chan struct{})
	r.One.OnKill = func(context.Context, hosttest.Worker, swarm.KillOptions) (swarm.KillResult, error) {
		close(asked)
		<-end
		return swarm.KillResult{}, nil
	}
	other := hosttest.NewIn(t, r.Root)
	other.UsePlugins(t, r)
	var killing sync.WaitGroup
	killing.Go(func() {
		if _, err := other.Kill().Kill(t.Context(), worker.Selection{Names: []string{"w"}}, kill.Request{}); err != nil {
			t.Error(err)
		}
	})
	<-asked
	if w := r.Worker(t, "w"); w.Status != worker.StatusRunning {
		t.Errorf("while it ignores the signal: %+v", w)
	}
	r.WantHistory(t, "w", "SPAWNED", "KILL REQUESTED")
	if _, err := r.Spawn().Spawn(t.Context(), r.Request("w", "one")); !errors.Is(err, worker.ErrExists) {
		t.Errorf("its name is taken: %v", err)
	}
	close(end)
	killing.Wait()
	r.WantHistory(t, "w", "SPAWNED", "KILL REQUESTED", "KILLED: by orchestrator")
	r.WantGone(t, "w")
}

// One that can't be ended stays, and says so.
func TestEphemeralSurvives(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one", hosttest.Ephemeral)
	r.One.OnKill = func(context.Context, hosttest.Worker, swarm.KillOptions) (swarm.KillResult, error) {
		return swarm.KillResult{Status: swarm.Status{State: swarm.StateRunning}}, swarm.ErrSurvivors
	}
	if out := r.MustKill(t, worker.Selection{Names: []string{"w"}}, kill.Request{}); !errors.Is(out[0].Err, swarm.ErrSurvivors) {
		t.Errorf("%+v", out)
	}
	r.WantHistory(t, "w", "SPAWNED", "KILL REQUESTED")
	if w := r.Worker(t, "w"); w.Status != worker.StatusRunning {
		t.Errorf("%+v", w)
	}
}

// A kill with the removal of the workspace removes everything of an ephemeral worker.
func TestEphemeralWorkspace(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "clean", "one", hosttest.Ephemeral, hosttest.InWorkspace)
	if out := r.MustKill(t, worker.Selection{Names: []string{"clean"}}, kill.Request{RemoveWorkspace: true}); !out[0].WorkspaceRemoved {
		t.Errorf("%+v", out)
	}
	r.WantHistory(t, "clean", "SPAWNED", "KILL REQUESTED", "KILLED: by orchestrator")
	r.MustSpawn(t, "dirty", "one", hosttest.Ephemeral, hosttest.InWorkspace)
	r.Tree.Kept = &swarm.Kept{Reason: "worktree has 1 uncommitted change(s)", Forceable: true}
	if out := r.MustKill(t, worker.Selection{Names: []string{"dirty"}}, kill.Request{RemoveWorkspace: true}); out[0].WorkspaceRemoved || len(out[0].Warnings) != 1 {
		t.Errorf("%+v", out)
	}
	kept := "WORKTREE KEPT: " + r.Tree.Dir + "/dirty"
	r.WantHistory(t, "dirty", "SPAWNED", "KILL REQUESTED", "KILLED: by orchestrator", kept)
	// A clean that must keep it says so too.
	r.MustSpawn(t, "stays", "one", hosttest.InWorkspace)
	r.MustKill(t, worker.Selection{Names: []string{"stays"}}, kill.Request{})
	if out, err := r.Kill().Clean(t.Context(), worker.Selection{Names: []string{"stays"}}, kill.CleanRequest{}); err != nil || out[0].Err != nil {
		t.Fatal(out, err)
	}
	r.WantHistory(t, "stays", "SPAWNED", "KILL REQUESTED", "KILLED: by orchestrator", "WORKTREE KEPT: "+r.Tree.Dir+"/stays", "CLEANED")
}
