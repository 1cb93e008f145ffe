package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A rebuild tells the history as far as it can be known, and brings none back
// that were gone.
func TestRebuildHistory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(path string) error
		kept   bool // the old history can be read
	}{
		"deleted":          {os.Remove, false},
		"workers unusable": {breakWorkers, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.can("one", swarm.CapComplete)
			r.spawn(t, "runs", "one")
			r.spawn(t, "ended", "one")
			r.kill(t, Selection{Names: []string{"ended"}}, KillRequest{})
			r.spawn(t, "brief", "one", ephemeral)
			done := r.spawn(t, "done", "one", ephemeral)
			if err := r.complete(t, done, "all"); err != nil {
				t.Fatal(err)
			}
			// It ends while nobody looks, and another one has its name by now.
			r.one.end(t, "brief", swarm.Exit{Time: time.Unix(1700000000, 0)})
			r.spawn(t, "brief", "one")
			before := r.linesOf(t, "")
			if err := r.store.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(r.opts.Dir, registry.File)
			if err := c.damage(path); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range []string{"-wal", "-shm"} {
				_ = os.Remove(path + suffix)
			}
			if got := problems(t, r, true); got != nil {
				t.Errorf("problems after the rebuild: %q", got)
			}
			want := map[string]WorkerStatus{"runs": StatusRunning, "ended": StatusStopped, "brief": StatusRunning}
			if diff := cmp.Diff(want, r.summary(t)); diff != "" {
				t.Errorf("workers (-want +got):\n%s", diff)
			}
			after := r.linesOf(t, "")
			if !c.kept {
				before = []string{
					"[ended] KILLED: by orchestrator", // the fake's kills are long ago
					"[runs] SPAWNED", "[ended] SPAWNED", "[brief] SPAWNED",
				}
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			// The history goes on behind what was saved.
			r.kill(t, Selection{Names: []string{"runs"}}, KillRequest{})
			if got := r.linesOf(t, ""); !slices.Equal(got[len(after):], []string{"[runs] KILL REQUESTED", "[runs] KILLED: by orchestrator"}) {
				t.Errorf("and then %q", got)
			}
			if _, err := os.Stat(r.dir.RunDir(done.ID)); err == nil && c.kept {
				t.Error("the run directory of one that was gone is still there")
			}
		})
	}
}

// breakWorkers overwrites the page on which the table of workers begins, the
// first after the schema's, and leaves the history.
func breakWorkers(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	const page = 4096
	_, err = f.WriteAt([]byte(strings.Repeat("x", page)), page)
	return errors.Join(err, f.Close())
}

// The doctor says nothing of what goes by itself, and names gc for the rest.
func TestDoctorOnLeftovers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.spawn(t, "w", "one", ephemeral)
	r.kill(t, Selection{Names: []string{"w"}}, KillRequest{})
	if err := os.Mkdir(r.dir.RunDir(w.ID), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := problems(t, r, false); len(got) != 1 || !strings.Contains(got[0], "belongs to a removed worker") {
		t.Errorf("problems %q", got)
	}
	c, err := r.Collect(t.Context())
	if err != nil || c.RunDirs != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if got := problems(t, r, false); got != nil {
		t.Errorf("problems after gc: %q", got)
	}
	// A directory that may be all that is left of a worker stays.
	lost := r.spawn(t, "lost", "one", ephemeral)
	reg, err := r.store.Writing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = reg.Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error { return tx.Delete(ctx, lost.ID) })
	if err != nil {
		t.Fatal(err)
	}
	if c, err := r.Collect(t.Context()); err != nil || c.RunDirs != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A worker goes with the run directories of all its incarnations.
func TestCleanIncarnations(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"clean", "kill"} {
		r := newRig(t)
		first := r.spawn(t, "w", "one", func(q *SpawnRequest) {
			if how == "kill" {
				q.Retain = "0s"
			}
		})
		second := r.respawn(t, "w")
		r.kill(t, Selection{Names: []string{"w"}}, KillRequest{})
		if how == "clean" {
			if out, err := r.Clean(t.Context(), Selection{Names: []string{"w"}}, CleanRequest{}); err != nil || out[0].Err != nil {
				t.Fatal(out, err)
			}
		} else {
			if _, err := r.Collect(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{first.ID, second.ID} {
			if _, err := os.Stat(r.dir.RunDir(id)); err == nil {
				t.Errorf("%s: the run directory of %s is still there", how, id)
			}
		}
	}
}
