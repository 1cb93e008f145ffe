package store_test

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
)

// A call that changes something takes the registry of the calls that only read,
// which continue with the one that they were given.
func TestReadersKeepTheirRegistry(t *testing.T) {
	t.Parallel()
	root := hosttest.New(t)
	root.MustSpawn(t, "w", "one")
	for range 20 {
		r := hosttest.NewIn(t, root.Root)
		looking, changed := make(chan struct{}), make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() {
			reg, err := r.Store().ToRead(t.Context())
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
