package backendtest

import (
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

const manyWorkers = 100

func manyCases() []testCase {
	return []testCase{newCase("many-workers", scope{built: true, alone: true},
		"100 workers run at the same time, or wait for room with a reason, one StatusBatch returns all their statuses, and all are killed together",
		func(k *kit) {
			n := k.settings.Workers
			if n <= 0 {
				n = manyWorkers
			}
			workers, errs := make([]*worker, n), make([]error, n)
			for i := range workers {
				workers[i] = k.newSpec(script.Sleep)
			}
			harness.Together(n, func(i int) { errs[i] = workers[i].tryStart(k.Ctx) })
			k.Must("Spawn", errors.Join(errs...))
			k.allAre(workers, swarm.StateRunning)
			harness.Together(n, func(i int) { _, errs[i] = k.Kill(k.Ctx, workers[i].handle, gentle()) })
			k.Must("Kill", errors.Join(errs...))
			k.allAre(workers, swarm.StateExited)
		})}
}

func (k *kit) allAre(workers []*worker, want swarm.State) {
	k.Helper()
	hs := make([]swarm.Handle, len(workers))
	for i, w := range workers {
		hs[i] = w.handle
	}
	ctx, cancel := k.limited()
	defer cancel()
	results, err := k.Backend.(swarm.BatchStatuser).StatusBatch(ctx, hs)
	k.Must("StatusBatch", err)
	var wrong []string
	for i, r := range results {
		waits := want == swarm.StateRunning && r.Status.State == swarm.StatePending && r.Status.Reason != ""
		if r.Err != nil || r.Status.State != want && !waits {
			wrong = append(wrong, fmt.Sprintf("worker %s is %s, error %v", workers[i].spec.ID, r.Status.State, r.Err))
		}
	}
	if len(wrong) > 0 {
		k.Broken("%d of %d are not %s: %s", len(wrong), len(workers), want, wrong[0])
	}
}

func sweepCases() []testCase {
	return []testCase{
		newCase("sweep-spares-the-running", scope{needs: swarm.CapSweep},
			"Sweep removes nothing that a running worker uses, and an ended worker stays ended",
			func(k *kit) {
				ended, running := k.ready(script.Sleep), k.ready(script.Sleep)
				ended.kill(gentle())
				k.sweep([]swarm.Handle{ended.handle}, []swarm.Handle{running.handle})
				running.wantState(swarm.StateRunning, "the running worker")
				ended.wantState(swarm.StateExited, "the ended worker")
			}),
		newCase("sweep-after-the-last", scope{needs: swarm.CapSweep},
			"Sweep works after the last worker has ended, and again when there is nothing left to remove",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.kill(gentle())
				k.sweep([]swarm.Handle{w.handle}, nil)
				k.sweep([]swarm.Handle{w.handle}, nil)
				k.sweep(nil, nil)
				w.wantState(swarm.StateExited, "the ended worker")
			}),
		newCase("check", scope{needs: swarm.CapCheck},
			"Check returns nil where the plugin works",
			func(k *kit) {
				k.Check("Check", k.Backend.(swarm.Checker).Check(k.Ctx))
			}),
	}
}

func (k *kit) sweep(ended, running []swarm.Handle) {
	k.Helper()
	ctx, cancel := k.limited()
	defer cancel()
	_, err := k.Backend.(swarm.Sweeper).Sweep(ctx, ended, running)
	k.Check("Sweep", err)
}
