package backendtest

import (
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// manyWorkers is how many there are in the case about many.
const manyWorkers = 100

func manyCases() []testCase {
	return []testCase{{
		name: "many-workers", built: true, alone: true,
		rule: "100 workers run at the same time, one look tells how all of them are, and all are ended together",
		run: func(k *kit) {
			n := k.settings.workers
			if n <= 0 {
				n = manyWorkers
			}
			workers, errs := make([]*worker, n), make([]error, n)
			for i := range workers {
				workers[i] = k.newSpec(script.Sleep)
			}
			harness.Together(n, func(i int) {
				w := workers[i]
				if w.handle, errs[i] = k.Spawn(k.ctx, w.spec); errs[i] == nil {
					w.started(w.handle)
				}
			})
			if err := errors.Join(errs...); err != nil {
				k.fatal("Spawn: %v", err)
			}
			k.allAre(workers, swarm.StateRunning)
			harness.Together(n, func(i int) { _, errs[i] = k.Kill(k.ctx, workers[i].handle, gentle()) })
			if err := errors.Join(errs...); err != nil {
				k.fatal("Kill: %v", err)
			}
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
	if err != nil {
		k.fatal("StatusBatch: %v", err)
	}
	wrong := 0
	first := ""
	for i, r := range results {
		if r.Err != nil || r.Status.State != want {
			if wrong++; wrong == 1 {
				first = fmt.Sprintf("worker %s is %s, error %v", workers[i].spec.ID, r.Status.State, r.Err)
			}
		}
	}
	if wrong > 0 {
		k.broken("%d of %d are not %s: %s", wrong, len(workers), want, first)
	}
}
