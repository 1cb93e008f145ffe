package spawn_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func ended(cause swarm.Cause, at time.Time) func(*rundir.Status) {
	return func(st *rundir.Status) { st.State, st.Cause, st.EndedNS = rundir.StateEnded, cause, at.UnixNano() }
}

// booted returns when the machine was started.
func booted(t *testing.T) time.Time {
	t.Helper()
	at, err := proc.BootTime()
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// happened writes an event of a worker into the history.
func happened(t *testing.T, r *hosttest.Rig, name string, kind registry.EventKind, at time.Time) {
	t.Helper()
	rec := r.Record(t, name)
	err := r.Store().Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
		e := history.NewEvent(&rec, kind, "", at)
		e.Final = kind == history.Died
		_, err := tx.Append(ctx, e)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func namesOf(interrupted []spawn.Interrupted) []string {
	var all []string
	for _, f := range interrupted {
		all = append(all, f.Worker.Name)
	}
	return all
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	down := booted(t).Add(-time.Minute)
	for _, name := range []string{"cut", "shut", "stopped", "lost", "exited", "killed", "done", "asked", "here", "runs"} {
		r.MustSpawn(t, name, "one")
	}
	r.Interrupt(t, "cut")
	r.Interrupt(t, "shut", ended(swarm.CauseShutdown, down))
	// These ended while the machine continued.
	r.Interrupt(t, "stopped", ended(swarm.CauseShutdown, down.Add(-time.Hour)))
	r.Interrupt(t, "lost")
	happened(t, r, "lost", history.Died, down.Add(-time.Minute))
	r.Interrupt(t, "exited", ended(swarm.CauseExited, down))
	r.Interrupt(t, "killed", ended(swarm.CauseKilled, down))
	r.Interrupt(t, "done", func(st *rundir.Status) { st.Completion = &rundir.Completion{Summary: "x"} })
	boot, err := proc.BootID()
	if err != nil {
		t.Fatal(err)
	}
	r.Interrupt(t, "here", func(st *rundir.Status) { st.Shim.Boot = boot })
	r.Interrupt(t, "asked")
	happened(t, r, "asked", history.KillRequested, down)
	interrupted, err := r.Spawn().Interrupted(t.Context(), worker.Selection{All: true})
	if err != nil || !cmp.Equal(namesOf(interrupted), []string{"cut", "shut"}) {
		t.Fatalf("interrupted: %q, %v", namesOf(interrupted), err)
	}
	if interrupted[0].Why == interrupted[1].Why || interrupted[0].Refused != "" {
		t.Errorf("interrupted: %+v", interrupted)
	}
}

// TestInterruptedAfterLossOfPower finds workers whose status the disk has lost, and not those whose
// end it has.
func TestInterruptedAfterLossOfPower(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	for _, name := range []string{"empty", "killed", "renamed"} {
		r.MustSpawn(t, name, "one")
		r.Interrupt(t, name)
		dir := r.StateDir().RunDir(r.Record(t, name).ID)
		st, err := statedir.ReadStatus(dir)
		if err != nil {
			t.Fatal(err)
		}
		status, final := []byte(nil), []byte(nil)
		if name == "renamed" {
			status = rundir.EncodeStatus(st)
		}
		if name != "empty" {
			ended(swarm.CauseKilled, booted(t).Add(-time.Second))(&st)
			final = rundir.EncodeStatus(st)
		}
		for file, content := range map[string][]byte{rundir.StatusFile: status, rundir.FinalFile: final} {
			path, before := filepath.Join(dir, file), booted(t).Add(-time.Minute)
			if err := errors.Join(os.WriteFile(path, content, 0o600), os.Chtimes(path, before, before)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if interrupted, err := r.Spawn().Interrupted(t.Context(), worker.Selection{All: true}); err != nil || !cmp.Equal(namesOf(interrupted), []string{"empty"}) {
		t.Errorf("interrupted: %q, %v", namesOf(interrupted), err)
	}
}

// TestResurrectOnce has several calls at once start each worker once.
func TestResurrectOnce(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	olds := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		olds[name] = r.MustSpawn(t, name, "one", func(q *spawn.Request) { q.Resurrect = name != "c" }).ID
		r.Interrupt(t, name)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := r.Spawn().Resurrect(t.Context(), worker.Selection{All: true}, spawn.ResurrectRequest{Marked: true}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	alive := r.One.Alive(t)
	slices.Sort(alive)
	if !cmp.Equal(alive, []string{"a", "b"}) {
		t.Errorf("alive: %q", alive)
	}
	for _, name := range []string{"a", "b"} {
		w := r.Worker(t, name)
		if w.Status != worker.StatusRunning || !w.Resurrect || !cmp.Equal(w.Previous, []string{olds[name]}) {
			t.Errorf("resurrected: %+v", w)
		}
		want := []string{"SPAWNED", "DIED: process not found", "RESURRECTED: it ran when the machine went down", "SPAWNED"}
		for i := range want {
			want[i] = "[" + name + "] " + want[i]
		}
		if diff := cmp.Diff(want, r.HistoryLines(t, name)); diff != "" {
			t.Errorf("the history (-want +got):\n%s", diff)
		}
	}
	if interrupted, err := r.Spawn().Interrupted(t.Context(), worker.Selection{All: true}); err != nil || !cmp.Equal(namesOf(interrupted), []string{"c"}) {
		t.Errorf("still interrupted: %q, %v", namesOf(interrupted), err)
	}
}

// TestResurrectBudget has a worker that may be what brings the machine down.
func TestResurrectBudget(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapRestart)
	r.MustSpawn(t, "w", "one", func(q *spawn.Request) { q.Restart = swarm.Restart{When: swarm.RestartAlways, Budget: 2} })
	var before string
	resurrect := func(req spawn.ResurrectRequest) spawn.Resurrection {
		t.Helper()
		before = r.Record(t, "w").ID
		r.Interrupt(t, "w")
		got, err := r.Spawn().Resurrect(t.Context(), worker.Selection{Names: []string{"w"}}, req)
		if err != nil || len(got) != 1 || got[0].Err != nil {
			t.Fatalf("%+v, %v", got, err)
		}
		return got[0]
	}
	for range 2 {
		if got := resurrect(spawn.ResurrectRequest{}); got.Refused != "" {
			t.Fatalf("refused: %s", got.Refused)
		}
	}
	if got := resurrect(spawn.ResurrectRequest{}); !strings.Contains(got.Refused, "2 times within 1h") || r.Record(t, "w").ID != before {
		t.Errorf("%+v", got)
	}
	if got := resurrect(spawn.ResurrectRequest{Named: true}); got.Refused != "" || r.Record(t, "w").ID == before {
		t.Errorf("%+v", got)
	}
}
