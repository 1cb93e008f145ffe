package doctor_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A rebuild restores the history as far as it can be known, and brings none back
// that were gone.
func TestRebuildHistory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(path string) error
		kept   bool // the old history can be read
	}{
		"deleted":          {os.Remove, false},
		"workers unusable": {hosttest.DamageWorkers, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			r.Announce("one", swarm.CapComplete)
			r.MustSpawn(t, "runs", "one")
			r.MustSpawn(t, "ended", "one")
			r.MustKill(t, worker.Selection{Names: []string{"ended"}}, kill.Request{})
			r.MustSpawn(t, "brief", "one", hosttest.Ephemeral)
			done := r.MustSpawn(t, "done", "one", hosttest.Ephemeral)
			if err := r.CompleteInside(t, done, "all"); err != nil {
				t.Fatal(err)
			}
			// It ends while no one looks, and another one has its name by now.
			r.One.End(t, "brief", swarm.Exit{Time: time.Unix(1700000000, 0)})
			r.MustSpawn(t, "brief", "one")
			before := r.HistoryLines(t, "")
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(r.Dir(), registry.File)
			if err := c.damage(path); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range []string{"-wal", "-shm"} {
				_ = os.Remove(path + suffix)
			}
			if got := hosttest.Problems(t, r, true); got != nil {
				t.Errorf("problems after the rebuild: %q", got)
			}
			want := map[string]worker.Status{"runs": worker.StatusRunning, "ended": worker.StatusStopped, "brief": worker.StatusRunning}
			if diff := cmp.Diff(want, r.Statuses(t)); diff != "" {
				t.Errorf("workers (-want +got):\n%s", diff)
			}
			after := r.HistoryLines(t, "")
			if !c.kept {
				before = []string{
					"[ended] KILLED: by orchestrator", // the fake's kills are long ago
					"[runs] SPAWNED", "[ended] SPAWNED", "[brief] SPAWNED",
				}
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			// The history continues behind what was saved.
			r.MustKill(t, worker.Selection{Names: []string{"runs"}}, kill.Request{})
			if got := r.HistoryLines(t, ""); !slices.Equal(got[len(after):], []string{"[runs] KILL REQUESTED", "[runs] KILLED: by orchestrator"}) {
				t.Errorf("and then %q", got)
			}
			if _, err := os.Stat(r.StateDir().RunDir(done.ID)); err == nil && c.kept {
				t.Error("the run directory of one that was gone is still there")
			}
		})
	}
}

// The doctor says nothing of what goes by itself, and names gc for the rest.
func TestDoctorOnLeftovers(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w", "one", hosttest.Ephemeral)
	r.MustKill(t, worker.Selection{Names: []string{"w"}}, kill.Request{})
	if err := os.Mkdir(r.StateDir().RunDir(w.ID), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := hosttest.Problems(t, r, false); len(got) != 1 || !strings.Contains(got[0], "belongs to a removed worker") {
		t.Errorf("problems %q", got)
	}
	c, err := r.Watch().Collect(t.Context())
	if err != nil || c.RunDirs != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if got := hosttest.Problems(t, r, false); got != nil {
		t.Errorf("problems after gc: %q", got)
	}
	// A directory that may be all that is left of a worker stays.
	lost := r.MustSpawn(t, "lost", "one", hosttest.Ephemeral)
	reg, err := r.Store().ToWrite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = reg.Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error { return tx.Delete(ctx, lost.ID) })
	if err != nil {
		t.Fatal(err)
	}
	if c, err := r.Watch().Collect(t.Context()); err != nil || c.RunDirs != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}
