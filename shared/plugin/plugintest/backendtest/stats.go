package backendtest

import (
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// spentLeast is the smallest CPU time of a [script.Spend].
	spentLeast = 20 * time.Millisecond
	// held is the memory of a [script.Hold].
	held = 24 << 20
)

func statsCases() []testCase {
	return []testCase{
		newCase("stats-of-a-running-worker", scope{needs: swarm.CapStats},
			"Stats returns the time of the measurement and at least one figure of a running worker",
			func(k *kit) {
				s := k.ready(script.Sleep).stats()
				if s.Time.IsZero() {
					k.Broken("the figures have no time: %+v", s)
				}
				if s.CPUTime == nil && s.CPUShare == nil && s.Memory == nil && s.Processes == nil {
					k.Broken("the result has no figure: %+v", s)
				}
			}),
		newCase("stats-cpu-time", scope{needs: swarm.CapStats},
			"the CPU time of a worker, if known, includes that of a child, also after the child has ended",
			func(k *kit) {
				w := k.ready(script.Spend)
				before := w.stats()
				w.wantLine("spent")
				after := w.stats()
				if (before.CPUTime == nil) != (after.CPUTime == nil) {
					k.Fatal("the CPU time was %v and is %v", before.CPUTime, after.CPUTime)
				}
				if after.CPUTime == nil {
					return
				}
				// The first measurement may be late: only the sum is certain.
				if *after.CPUTime < *before.CPUTime || *after.CPUTime < spentLeast {
					k.Broken("the CPU time was %v, and %v after the child", *before.CPUTime, *after.CPUTime)
				}
			}),
		newCase("stats-memory", scope{needs: swarm.CapStats},
			"the memory of a worker, if known, is the memory of its processes and at most its peak",
			func(k *kit) {
				s := k.ready(script.Hold).heldStats()
				if s.Memory != nil && *s.Memory > 8*held {
					k.Broken("a worker that holds %d bytes has %d bytes", held, *s.Memory)
				}
				if s.Memory != nil && s.Peak != nil && *s.Peak < *s.Memory {
					k.Broken("the peak is %d, the memory %d", *s.Peak, *s.Memory)
				}
			}),
		newCase("stats-of-a-tree", scope{needs: swarm.CapStats, local: true},
			"Stats counts every process of the worker: children, also those in their own session or whose parent is gone",
			func(k *kit) {
				w := k.spawn(script.Tree)
				pids := w.pids()
				var s swarm.Stats
				k.until("all processes are counted", func() bool {
					s = w.stats()
					return s.Processes == nil || *s.Processes >= len(pids)
				})
				if s.Processes != nil && *s.Processes != len(pids) {
					k.Broken("Stats counts %[2]d processes instead of %[1]d", len(pids), *s.Processes)
				}
			}),
		newCase("stats-in-order", scope{needs: swarm.CapStats},
			"Stats returns one result for each handle, in order, as if each were asked for alone",
			func(k *kit) {
				a, b, c := k.ready(script.Sleep), k.spawn(script.True), k.ready(script.Hold)
				b.ended()
				a.stats()
				c.heldStats()
				hs := []swarm.Handle{a.handle, badHandle(), b.handle, c.handle, a.handle}
				results, err := k.Backend.(swarm.Measurer).Stats(k.Ctx, hs)
				if err != nil || len(results) != len(hs) {
					k.Fatal("%d results for %d handles, error %v", len(results), len(hs), err)
				}
				want := []error{nil, swarm.ErrInvalidHandle, swarm.ErrNotFound, nil, nil}
				for i, r := range results {
					switch {
					case want[i] != nil:
						k.WantErr("Stats", r.Err, want[i])
					case r.Err != nil:
						k.Broken("result %d: %v", i, r.Err)
					}
				}
				if m, n := results[0].Stats.Memory, results[3].Stats.Memory; m != nil && n != nil && *m >= *n {
					k.Broken("the worker without held memory has %d bytes, the other one %d", *m, *n)
				}
			}),
	}
}

func (w *worker) measured() (swarm.Stats, error) {
	w.Helper()
	ctx, cancel := w.limited()
	defer cancel()
	results, err := w.Backend.(swarm.Measurer).Stats(ctx, []swarm.Handle{w.handle})
	if err != nil || len(results) != 1 {
		w.Fatal("%d results for one handle, error %v", len(results), err)
	}
	return results[0].Stats, results[0].Err
}

// stats returns the worker's figures, which an engine may have only some time after its start.
func (w *worker) stats() swarm.Stats {
	w.Helper()
	var s swarm.Stats
	var err error
	if !harness.ComesTrue(w.Ctx, func() bool { s, err = w.measured(); return err == nil }) {
		w.Fatal("Stats: %v", err)
	}
	return s
}

// heldStats returns the figures of a [script.Hold]. An engine may measure only periodically.
func (w *worker) heldStats() swarm.Stats {
	w.Helper()
	var s swarm.Stats
	w.until("the memory of the worker is what it holds", func() bool {
		s = w.stats()
		return s.Memory == nil || *s.Memory >= held
	})
	return s
}
