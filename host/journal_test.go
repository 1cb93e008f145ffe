package host

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

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// journal returns the entries of the journal.
func (r *rig) journal(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(r.dir.JournalPath(""))
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
func (r *rig) note(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(r.dir.JournalPath(name), nil, 0o600); err != nil {
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
			r := newRig(t)
			r.plugins.peers[backend].Capabilities = []swarm.Capability{swarm.CapFind} // it sweeps nothing
			fake := map[string]*fakeBackend{"one": r.one, "two": r.two}[backend]
			others := map[string]bool{}
			for i := range 3 {
				others[r.spawn(t, fmt.Sprint("other", i), backend).ID] = true
			}
			r.spawn(t, "ephemeral", backend, ephemeral)
			others[r.get(t, "ephemeral").ID] = true
			asked := []string{}
			fake.onStatus = func(w fakeWorker) {
				if others[w.ID] {
					asked = append(asked, w.Spec.Name)
				}
			}
			for id := range others {
				// Whoever reads it now fails.
				if err := os.RemoveAll(r.dir.RunDir(id)); err != nil {
					t.Fatal(err)
				}
			}
			r.spawn(t, "w", backend)
			r.kill(t, Selection{Names: []string{"w"}}, KillRequest{})
			r.clean(t, "w")
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
	for what, call := range map[string]func(t *testing.T, r *rig){
		"spawn":   func(t *testing.T, r *rig) { r.spawn(t, "next", "two") },
		"kill":    func(t *testing.T, r *rig) { r.kill(t, Selection{Names: []string{"other"}}, KillRequest{}) },
		"clean":   func(t *testing.T, r *rig) { r.clean(t, "stopped") },
		"respawn": func(t *testing.T, r *rig) { r.respawn(t, "stopped") },
		"gc": func(t *testing.T, r *rig) {
			if _, err := r.Collect(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.spawn(t, "w", "one")
			r.spawn(t, "other", "two")
			r.spawn(t, "stopped", "two")
			r.kill(t, Selection{Names: []string{"stopped"}}, KillRequest{})
			r.one.end(t, "w", swarm.Exit{Code: 3})
			if got := r.journal(t); len(got) != 1 {
				t.Fatalf("the journal holds %q", got)
			}
			call(t, r)
			r.told(t, "w", "SPAWNED", "FAILED: exit status 3")
			if got := r.journal(t); len(got) != 0 {
				t.Errorf("the journal holds %q", got)
			}
		})
	}
}

// An entry stays until what it tells is recorded, and what it says is looked at once
// more if it comes again.
func TestJournalEntries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	reg, err := r.store.Writing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nobody := func(string) bool { return false }
	drain := func(want ...string) {
		t.Helper()
		if err := r.history.Drain(t.Context(), reg, nobody); err != nil {
			t.Error(err)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, r.journal(t), cmp.Transformer("none", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Errorf("the journal (-want +got):\n%s", diff)
		}
	}
	w := r.spawn(t, "w", "one")

	// It ignores files that are not entries, and removes the entry of a worker that is
	// gone.
	r.note(t, "0gone0")
	r.note(t, "No Entry")
	r.note(t, w.ID+".9")
	drain("No Entry", w.ID+".9") // there is no status yet
	if err := os.Remove(r.dir.JournalPath("No Entry")); err != nil {
		t.Fatal(err)
	}

	// One whose end can't be recorded stays.
	r.one.end(t, "w", swarm.Exit{Code: 3})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.history.Drain(ctx, reg, nobody); err == nil {
		t.Error("drained without a registry")
	}
	r.told(t, "w", "SPAWNED")
	if got := r.journal(t); !slices.Contains(got, w.ID) {
		t.Errorf("the journal holds %q", got)
	}
	// So does one that the call itself is about.
	if err := r.history.Drain(t.Context(), reg, func(id string) bool { return id == w.ID }); err != nil {
		t.Error(err)
	}
	r.told(t, "w", "SPAWNED")
	drain()
	r.told(t, "w", "SPAWNED", "FAILED: exit status 3")
	// A shim that was slow to tell what somebody else has recorded.
	r.note(t, w.ID)
	drain()
	r.told(t, "w", "SPAWNED", "FAILED: exit status 3")

	// One of a worker whose spawn is not over stays until it is.
	rec := r.record(t, "w")
	rec.ID, rec.Name, rec.State = "0starting0", "s", registry.Starting
	r.change(t, func(ctx context.Context, tx *registry.Tx) error { return tx.Insert(ctx, &rec) })
	r.note(t, rec.ID)
	drain(rec.ID)
}

// A host that is told of nothing finds the ends when it looks for them.
func TestEndsWithoutEntries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"a", "b"} {
		w := r.spawn(t, name, "one")
		// As one that was started before there was a journal.
		if err := os.Remove(filepath.Join(r.dir.RunDir(w.ID), rundir.JournalLink)); err != nil {
			t.Fatal(err)
		}
		r.one.end(t, name, swarm.Exit{Code: 3})
	}
	r.spawn(t, "other", "one")
	r.told(t, "a", "SPAWNED")
	r.kill(t, Selection{Names: []string{"b"}}, KillRequest{})
	if history := r.linesOf(t, "b"); history[len(history)-1] != "[b] FAILED: exit status 3" {
		t.Errorf("the history is %q", history)
	}
	if _, err := r.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.told(t, "a", "SPAWNED", "FAILED: exit status 3")
}

// The end of a crowd that nobody watched is recorded by one call.
func TestJournalOfACrowd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const crowd = 500 + 10 // more than one batch
	first := r.spawn(t, "w", "one")
	r.one.end(t, "w", swarm.Exit{Code: 3})
	rec := r.record(t, "w")
	recs := make([]registry.Record, crowd)
	r.change(t, func(ctx context.Context, tx *registry.Tx) error {
		for i := range recs {
			recs[i] = rec
			recs[i].ID, recs[i].Name = fmt.Sprintf("0crowd%d0", i), fmt.Sprint("c", i)
			if err := tx.Insert(ctx, &recs[i]); err != nil {
				return err
			}
		}
		return nil
	})
	for _, rec := range recs {
		if err := r.dir.MakeRunDir(rec.ID); err != nil {
			t.Fatal(err)
		}
		st := rundir.Status{Version: rundir.StatusVersion, ID: rec.ID, State: rundir.StateEnded, Code: 3, Cause: "exited", EndedNS: 1}
		if err := os.WriteFile(filepath.Join(r.dir.RunDir(rec.ID), rundir.StatusFile), rundir.EncodeStatus(st), 0o600); err != nil {
			t.Fatal(err)
		}
		r.note(t, rec.ID)
	}
	begun := time.Now()
	r.spawn(t, "other", "two")
	if got := r.journal(t); len(got) != 0 {
		// A call has ten seconds for it, on any machine.
		if took := time.Since(begun); took < 9*time.Second {
			t.Errorf("the journal holds %d entries after %v", len(got), took)
		}
		r.spawn(t, "another", "two")
		if got = r.journal(t); len(got) != 0 {
			t.Errorf("after another call the journal holds %d entries", len(got))
		}
	}
	for _, id := range []string{first.ID, recs[0].ID, recs[crowd-1].ID} {
		if rec, err := r.byID(t, id); err != nil || rec.State != registry.Stopped || rec.Exit == nil || rec.Exit.Code != 3 {
			t.Errorf("%s is %+v, %v", id, rec.State, err)
		}
	}
}

func (r *rig) byID(t *testing.T, id string) (registry.Record, error) {
	t.Helper()
	reg, err := r.store.Reading(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return reg.Get(t.Context(), id)
}

// clean cleans one worker that has ended.
func (r *rig) clean(t *testing.T, name string) {
	t.Helper()
	outs, err := r.Clean(t.Context(), Selection{Names: []string{name}}, CleanRequest{})
	if err == nil {
		err = outs[0].Err
	}
	if err != nil {
		t.Fatal(err)
	}
}
