package backendtest

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func batchCases() []testCase {
	return []testCase{
		{
			name: "batch-equals-singles", needs: swarm.CapBatchStatus,
			rule: "StatusBatch answers for every handle, in their order, what Status would have answered",
			run: func(k *kit) {
				a, b, c := k.ready(script.Sleep), k.spawn(script.True), k.ready(script.Sleep)
				b.ended()
				bad := swarm.Handle{Version: a.handle.Version, Data: badHandle().Data}
				hs := []swarm.Handle{a.handle, bad, b.handle, c.handle, a.handle}
				results, err := k.Backend.(swarm.BatchStatuser).StatusBatch(k.ctx, hs)
				if err != nil || len(results) != len(hs) {
					k.fatal("%d results for %d handles, error %v", len(results), len(hs), err)
				}
				for i, h := range hs {
					st, err := k.Status(k.ctx, h)
					got := results[i]
					if !reflect.DeepEqual(got.Status, st) || kindOf(got.Err) != kindOf(err) {
						k.broken("place %d: batch says %+v, %v; Status says %+v, %v", i, got.Status, got.Err, st, err)
					}
				}
			},
		},
		{
			name: "batch-of-none", needs: swarm.CapBatchStatus,
			rule: "StatusBatch of no handle answers for none",
			run: func(k *kit) {
				results, err := k.Backend.(swarm.BatchStatuser).StatusBatch(k.ctx, nil)
				if err != nil || len(results) != 0 {
					k.broken("%d results, error %v", len(results), err)
				}
			},
		},
	}
}

// kindOf returns what matters of an error in a status.
func kindOf(err error) string {
	for _, kind := range []error{swarm.ErrInvalidHandle, swarm.ErrStaleHandle, swarm.ErrNotFound, swarm.ErrUnavailable} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err)
}
