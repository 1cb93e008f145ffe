package host_test

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
)

// A call that changes something takes the registry of the calls that only read,
// which go on with the one that they were given.
func TestReadersKeepTheirRegistry(t *testing.T) {
	t.Parallel()
	root := hosttest.New(t)
	root.MustSpawn(t, "w", "one")
	for range 20 {
		r := hosttest.NewIn(t, root.Root)
		looking, changed := make(chan struct{}), make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() {
			reg, err := r.Store().Reading(t.Context())
			if err != nil {
				t.Error(err)
				close(looking)
				return
			}
			close(looking)
			<-changed
			if recs, _, err := reg.Read(t.Context(), registry.Query{}); err != nil || len(recs) != 1 {
				t.Errorf("%d records, %v", len(recs), err)
			}
		})
		both.Go(func() {
			defer close(changed)
			<-looking
			err := r.Store().Change(t.Context(), func(context.Context, *registry.Tx) error { return nil })
			if err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// One host serves many calls at a time, as that of an MCP server does.
func TestReadsBesideChanges(t *testing.T) {
	t.Parallel()
	root := hosttest.New(t)
	root.MustSpawn(t, "w", "one")
	r := hosttest.NewIn(t, root.Root)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				if _, _, err := r.Workers(t.Context(), worker.Selection{}); err != nil {
					t.Error(err)
				}
				if _, err := r.History().Events(t.Context(), history.Query{Worker: "w"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 4 {
		all.Go(func() {
			for range 5 {
				err := r.Store().Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
					_, _, err := tx.Read(ctx, registry.Query{})
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestViewMakesNoRegistry: what only reads leaves no trace.
func TestViewMakesNoRegistry(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	err := r.Store().View(t.Context(), func(context.Context, *registry.Tx) error {
		t.Error("there is something to see")
		return nil
	})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want %v", err, fs.ErrNotExist)
	}
	if left := r.Leftovers(t); left != nil {
		t.Errorf("it left %q", left)
	}
}
