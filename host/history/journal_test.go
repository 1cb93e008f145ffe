package history_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// journal returns the entries of the journal.
func journal(t *testing.T, r *hosttest.Rig) []string {
	t.Helper()
	entries, err := os.ReadDir(r.StateDir().JournalPath(""))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// note makes an entry as a shim does.
func note(t *testing.T, r *hosttest.Rig, name string) {
	t.Helper()
	if err := os.WriteFile(r.StateDir().JournalPath(name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The spawn and the kill of one worker ask no backend about another one, whether or
// not it answers, and read nothing of it.
func TestCallsLookAtTheirOwnWorkersOnly(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"one", "two"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			r.Starter.Peers[backend].Capabilities = []swarm.Capability{swarm.CapFind} // it sweeps nothing
			fake := map[string]*hosttest.Backend{"one": r.One, "two": r.Two}[backend]
			others := map[string]bool{}
			for i := range 3 {
				others[r.MustSpawn(t, fmt.Sprint("other", i), backend).ID] = true
			}
			r.MustSpawn(t, "ephemeral", backend, hosttest.Ephemeral)
			others[r.Worker(t, "ephemeral").ID] = true
			asked := []string{}
			fake.OnStatus = func(w hosttest.Worker) {
				if others[w.ID] {
					asked = append(asked, w.Spec.Name)
				}
			}
			for id := range others {
				// A reader fails from here on.
				if err := os.RemoveAll(r.StateDir().RunDir(id)); err != nil {
					t.Fatal(err)
				}
			}
			r.MustSpawn(t, "w", backend)
			r.MustKill(t, worker.Selection{Names: []string{"w"}}, kill.Request{})
			r.MustClean(t, "w")
			if len(asked) > 0 {
				t.Errorf("asked about %q", asked)
			}
		})
	}
}

// The next changing call records the entry of a shim, whatever backend it starts, and only
// then removes the entry.
func TestJournalIsDrained(t *testing.T) {
	t.Parallel()
	for what, call := range map[string]func(t *testing.T, r *hosttest.Rig){
		"spawn": func(t *testing.T, r *hosttest.Rig) { r.MustSpawn(t, "next", "two") },
		"kill": func(t *testing.T, r *hosttest.Rig) {
			r.MustKill(t, worker.Selection{Names: []string{"other"}}, kill.Request{})
		},
		"clean":   func(t *testing.T, r *hosttest.Rig) { r.MustClean(t, "stopped") },
		"respawn": func(t *testing.T, r *hosttest.Rig) { r.MustRespawn(t, "stopped") },
		"gc": func(t *testing.T, r *hosttest.Rig) {
			if _, err := r.Watch().Collect(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			r.MustSpawn(t, "w", "one")
			r.MustSpawn(t, "other", "two")
			r.MustSpawn(t, "stopped", "two")
			r.MustKill(t, worker.Selection{Names: []string{"stopped"}}, kill.Request{})
			r.One.End(t, "w", swarm.Exit{Code: 3})
			if got := journal(t, r); len(got) != 1 {
				t.Fatalf("the journal holds %q", got)
			}
			call(t, r)
			r.WantHistory(t, "w", "SPAWNED", "FAILED: exit status 3")
			if got := journal(t, r); len(got) != 0 {
				t.Errorf("the journal holds %q", got)
			}
		})
	}
}

// An entry stays until what it reports is recorded, and what it says is looked at once
// more if it comes again.
func TestJournalEntries(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	reg, err := r.Store().ToWrite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(string) bool { return false }
	drain := func(want ...string) {
		t.Helper()
		if err := r.History().Drain(t.Context(), reg, nothing); err != nil {
			t.Error(err)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, journal(t, r), cmp.Transformer("none", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Errorf("the journal (-want +got):\n%s", diff)
		}
	}
	w := r.MustSpawn(t, "w", "one")

	// It ignores files that are not entries, and removes the entry of a worker that is
	// gone.
	note(t, r, "0gone0")
	note(t, r, "No Entry")
	note(t, r, w.ID+".9")
	drain("No Entry", w.ID+".9") // there is no status yet
	if err := os.Remove(r.StateDir().JournalPath("No Entry")); err != nil {
		t.Fatal(err)
	}

	// One whose end can't be recorded stays.
	r.One.End(t, "w", swarm.Exit{Code: 3})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.History().Drain(ctx, reg, nothing); err == nil {
		t.Error("drained without a registry")
	}
	r.WantHistory(t, "w", "SPAWNED")
	if got := journal(t, r); !slices.Contains(got, w.ID) {
		t.Errorf("the journal holds %q", got)
	}
	// So does one that the call itself is about.
	if err := r.History().Drain(t.Context(), reg, func(id string) bool { return id == w.ID }); err != nil {
		t.Error(err)
	}
	r.WantHistory(t, "w", "SPAWNED")
	drain()
	r.WantHistory(t, "w", "SPAWNED", "FAILED: exit status 3")
	// A shim that was slow to report what another process has recorded.
	note(t, r, w.ID)
	drain()
	r.WantHistory(t, "w", "SPAWNED", "FAILED: exit status 3")

	// One of a worker whose spawn is not over stays until it is.
	rec := r.Record(t, "w")
	rec.ID, rec.Name, rec.State = "0starting0", "s", registry.Starting
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error { return tx.Insert(ctx, &rec) })
	note(t, r, rec.ID)
	drain(rec.ID)
}

// A host that gets no report finds the ends when it looks for them.
func TestEndsWithoutEntries(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	for _, name := range []string{"a", "b"} {
		w := r.MustSpawn(t, name, "one")
		// As one that was started before there was a journal.
		if err := os.Remove(filepath.Join(r.StateDir().RunDir(w.ID), rundir.JournalLink)); err != nil {
			t.Fatal(err)
		}
		r.One.End(t, name, swarm.Exit{Code: 3})
	}
	r.MustSpawn(t, "other", "one")
	r.WantHistory(t, "a", "SPAWNED")
	r.MustKill(t, worker.Selection{Names: []string{"b"}}, kill.Request{})
	if history := r.HistoryLines(t, "b"); history[len(history)-1] != "[b] FAILED: exit status 3" {
		t.Errorf("the history is %q", history)
	}
	if _, err := r.Watch().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.WantHistory(t, "a", "SPAWNED", "FAILED: exit status 3")
}

// TestJournalOfManyEnds records the ends of many workers, which no watch has seen, in one call.
func TestJournalOfManyEnds(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	const many = 500 + 10 // more than one batch
	first := r.MustSpawn(t, "w", "one")
	r.One.End(t, "w", swarm.Exit{Code: 3})
	rec := r.Record(t, "w")
	recs := make([]registry.Record, many)
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
		for i := range recs {
			recs[i] = rec
			recs[i].ID, recs[i].Name = fmt.Sprintf("0many%d0", i), fmt.Sprint("c", i)
			if err := tx.Insert(ctx, &recs[i]); err != nil {
				return err
			}
		}
		return nil
	})
	for _, rec := range recs {
		if err := r.StateDir().MakeRunDir(rec.ID); err != nil {
			t.Fatal(err)
		}
		st := rundir.Status{Version: rundir.StatusVersion, ID: rec.ID, State: rundir.StateEnded, Code: 3, Cause: "exited", EndedNS: 1}
		if err := os.WriteFile(filepath.Join(r.StateDir().RunDir(rec.ID), rundir.StatusFile), rundir.EncodeStatus(st), 0o600); err != nil {
			t.Fatal(err)
		}
		note(t, r, rec.ID)
	}
	begun := time.Now()
	r.MustSpawn(t, "other", "two")
	if got := journal(t, r); len(got) != 0 {
		// A call has ten seconds for it, on any machine.
		if took := time.Since(begun); took < 9*time.Second {
			t.Errorf("the journal holds %d entries after %v", len(got), took)
		}
		r.MustSpawn(t, "another", "two")
		if got = journal(t, r); len(got) != 0 {
			t.Errorf("after another call the journal holds %d entries", len(got))
		}
	}
	for _, id := range []string{first.ID, recs[0].ID, recs[many-1].ID} {
		if rec, err := byID(t, r, id); err != nil || rec.State != registry.Stopped || rec.Exit == nil || rec.Exit.Code != 3 {
			t.Errorf("%s is %+v, %v", id, rec.State, err)
		}
	}
}

func byID(t *testing.T, r *hosttest.Rig, id string) (registry.Record, error) {
	t.Helper()
	reg, err := r.Store().ToRead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return reg.Get(t.Context(), id)
}
