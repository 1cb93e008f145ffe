package backendtest

import (
	"context"
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
			rule: "StatusBatch returns for each handle, in order, what Status would return",
			run: func(k *kit) {
				a, b, c := k.ready(script.Sleep), k.spawn(script.True), k.ready(script.Sleep)
				b.ended()
				bad := swarm.Handle{Version: a.handle.Version, Data: badHandle().Data}
				hs := []swarm.Handle{a.handle, bad, b.handle, c.handle, a.handle}
				results, err := k.Backend.(swarm.BatchStatuser).StatusBatch(k.Ctx, hs)
				if err != nil || len(results) != len(hs) {
					k.Fatal("%d results for %d handles, error %v", len(results), len(hs), err)
				}
				for i, h := range hs {
					st, err := k.Status(k.Ctx, h)
					got := results[i]
					if !reflect.DeepEqual(got.Status, st) || kindOf(got.Err) != kindOf(err) {
						k.Broken("result %d: the batch has %+v, %v; Status returns %+v, %v", i, got.Status, got.Err, st, err)
					}
				}
			},
		},
	}
}

func emptyCases() []testCase {
	screens := func(b swarm.BatchScreener, ctx context.Context, hs []swarm.Handle) ([]swarm.ScreenResult, error) {
		return b.ScreenBatch(ctx, hs, swarm.ScreenOptions{})
	}
	return []testCase{
		emptyCase("batch-of-none", "StatusBatch", swarm.CapBatchStatus, swarm.BatchStatuser.StatusBatch),
		emptyCase("screens-of-none", "ScreenBatch", swarm.CapBatchScreen, screens),
		emptyCase("stats-of-none", "Stats", swarm.CapStats, swarm.Measurer.Stats),
	}
}

func emptyCase[B, R any](
	name, method string, needs swarm.Capability, do func(B, context.Context, []swarm.Handle) ([]R, error),
) testCase {
	return testCase{
		name: name, needs: needs,
		rule: method + " of no handles returns no results",
		run: func(k *kit) {
			if results, err := do(k.Backend.(B), k.Ctx, nil); err != nil || len(results) != 0 {
				k.Broken("%d results, error %v", len(results), err)
			}
		},
	}
}

// kindOf returns the name of an error's sentinel.
func kindOf(err error) string {
	for _, kind := range []error{swarm.ErrInvalidHandle, swarm.ErrStaleHandle, swarm.ErrNotFound, swarm.ErrUnavailable} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err)
}
