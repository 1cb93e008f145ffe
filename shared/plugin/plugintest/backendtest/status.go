package backendtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func statusCases() []testCase {
	return []testCase{
		newCase("status-running", scope{},
			"a worker that runs has the state running and no exit",
			func(k *kit) {
				if st := k.ready(script.Sleep).status(); st.State != swarm.StateRunning || st.Exit != nil {
					k.Broken("got %+v", st)
				}
			}),
		newCase("status-exit-code", scope{},
			"a worker that ended by itself has the state exited, with its real code, cause and time",
			func(k *kit) {
				k.wantExit(k.spawn(script.Lines).ended(), swarm.Exit{Code: 3, Cause: swarm.CauseExited})
				k.wantExit(k.spawn(script.True).ended(), swarm.Exit{Code: 0, Cause: swarm.CauseExited})
			}),
		newCase("status-exit-signal", scope{},
			"a worker that was ended by a signal has the code -1 and the name of the signal",
			func(k *kit) {
				k.wantExit(k.spawn(script.Crash).ended(), swarm.Exit{Code: -1, Signal: "SIGSEGV", Cause: swarm.CauseExited})
			}),
		newCase("status-changes-nothing", scope{},
			"Status changes nothing, however often it is called",
			func(k *kit) {
				running, over := k.ready(script.Sleep), k.spawn(script.True)
				over.ended()
				for _, w := range []*worker{running, over} {
					first := w.status()
					for range 5 {
						if again := w.status(); !reflect.DeepEqual(first, again) {
							k.Broken("first %+v, then %+v", first, again)
							return
						}
					}
				}
			}),
	}
}

// wantExit checks how a worker ended. The time must be set; the reason is not checked.
func (k *kit) wantExit(st swarm.Status, want swarm.Exit) {
	k.Helper()
	if st.State != swarm.StateExited || st.Exit == nil {
		k.Broken("want exited, got %+v", st)
		return
	}
	got := *st.Exit
	if got.Time.IsZero() {
		k.Broken("the time of the end is missing")
	}
	if got.Code != want.Code || got.Signal != want.Signal || got.Cause != want.Cause {
		k.Broken("want code %d, signal %q, cause %q; got code %d, signal %q, cause %q",
			want.Code, want.Signal, want.Cause, got.Code, got.Signal, got.Cause)
	}
}

func batchCases() []testCase {
	screens := func(b swarm.BatchScreener, ctx context.Context, hs []swarm.Handle) ([]swarm.ScreenResult, error) {
		return b.ScreenBatch(ctx, hs, swarm.ScreenOptions{})
	}
	return []testCase{
		newCase("batch-equals-singles", scope{needs: swarm.CapBatchStatus},
			"StatusBatch returns for each handle, in order, what Status would return",
			func(k *kit) {
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
			}),
		emptyCase("batch-of-none", "StatusBatch", swarm.CapBatchStatus, swarm.BatchStatuser.StatusBatch),
		emptyCase("screens-of-none", "ScreenBatch", swarm.CapBatchScreen, screens),
		emptyCase("stats-of-none", "Stats", swarm.CapStats, swarm.Measurer.Stats),
	}
}

func emptyCase[B, R any](
	name, method string, needs swarm.Capability, do func(B, context.Context, []swarm.Handle) ([]R, error),
) testCase {
	return newCase(name, scope{needs: needs}, method+" of no handles returns no results", func(k *kit) {
		if results, err := do(k.Backend.(B), k.Ctx, nil); err != nil || len(results) != 0 {
			k.Broken("%d results, error %v", len(results), err)
		}
	})
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
