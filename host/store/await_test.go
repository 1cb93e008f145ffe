package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/worker"
)

// TestAwaitChange: what others write is seen.
func TestAwaitChange(t *testing.T) {
	t.Parallel()
	for what, begin := range map[string]func(testing.TB) *hosttest.Rig{"a registry": hosttest.NewWithTeam, "none yet": hosttest.New} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := begin(t)
			r.SetEnv(t)
			other := r.WithEnv(t)
			looked := make(chan struct{}, 1)
			done := make(chan error, 1)
			go func() {
				done <- other.Store().AwaitChange(t.Context(), func(ctx context.Context) (bool, error) {
					ws, _, err := other.Workers(ctx, worker.Selection{All: true})
					select {
					case looked <- struct{}{}:
					default:
					}
					return len(ws) == 2, err
				})
			}()
			<-looked
			r.MustSpawn(t, "a", "one")
			r.MustSpawn(t, "b", "one")
			if err := <-done; err != nil {
				t.Error(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			err := other.Store().AwaitChange(ctx, func(context.Context) (bool, error) {
				cancel()
				return false, nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("given up: %v", err)
			}
		})
	}
}
