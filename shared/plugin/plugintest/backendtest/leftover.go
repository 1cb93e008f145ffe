package backendtest

import (
	"context"
	"syscall"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// markVar is in the environment of each worker of the kit, with its id.
const markVar = "PLUGINTEST_WORKER"

// endRounds bounds how often processes are looked for: some start others before they end.
const endRounds = 20

// endLeft ends what a local worker has left behind after its case: a backend whose Kill is broken
// must not leave the workers of the kit running. A shim, which would start its worker again, goes
// first. Only processes whose environment has the id of this worker are signalled; the kit has made
// that id, and nothing else has it.
func (w *worker) endLeft() {
	// The context of the case has ended when its cleanup runs.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.k.Ctx), cleanLimit)
	defer cancel()
	for _, name := range []string{swarm.EnvShim, markVar} {
		for range endRounds {
			left, err := proc.Find(func(p proc.Process) bool {
				value, _ := proc.Getenv(p.PID, name)
				return value == w.spec.ID
			})
			if err != nil || len(left) == 0 {
				break
			}
			for _, p := range left {
				_ = p.Signal(syscall.SIGKILL) // it may have ended by itself
				_ = proc.AwaitEnd(ctx, p.Identity)
			}
		}
	}
}
