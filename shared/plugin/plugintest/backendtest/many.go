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
	return []testCase{{
		name: "many-workers", built: true, alone: true,
		rule: "100 workers run at the same time, one StatusBatch returns all their statuses, and all are killed together",
		run: func(k *kit) {
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
		},
	}}
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
		if r.Err != nil || r.Status.State != want {
			wrong = append(wrong, fmt.Sprintf("worker %s is %s, error %v", workers[i].spec.ID, r.Status.State, r.Err))
		}
	}
	if len(wrong) > 0 {
		k.Broken("%d of %d are not %s: %s", len(wrong), len(workers), want, wrong[0])
	}
}
