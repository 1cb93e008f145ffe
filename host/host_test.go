// These tests stay here: they call several parts of one host at the same time.

package host_test

import (
	"context"
	"sync"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
)

// One host serves many calls at a time, as that of an MCP server does.
func TestReadsDuringChanges(t *testing.T) {
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
				if _, err := r.History().Events(t.Context(), registry.EventQuery{Worker: "w"}); err != nil {
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
