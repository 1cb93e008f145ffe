package backendtest

import (
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func sweepCases() []testCase {
	return []testCase{
		{
			name: "sweep-spares-the-running", needs: swarm.CapSweep,
			rule: "Sweep removes nothing that a running worker uses, and an ended worker stays ended",
			run: func(k *kit) {
				ended, running := k.ready(script.Sleep), k.ready(script.Sleep)
				ended.kill(gentle())
				k.sweep([]swarm.Handle{ended.handle}, []swarm.Handle{running.handle})
				running.wantState(swarm.StateRunning, "the running worker")
				ended.wantState(swarm.StateExited, "the ended worker")
			},
		},
		{
			name: "sweep-after-the-last", needs: swarm.CapSweep,
			rule: "Sweep works after the last worker has ended, and again when there is nothing left to remove",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				w.kill(gentle())
				k.sweep([]swarm.Handle{w.handle}, nil)
				k.sweep([]swarm.Handle{w.handle}, nil)
				k.sweep(nil, nil)
				w.wantState(swarm.StateExited, "the ended worker")
			},
		},
		{
			name: "check", needs: swarm.CapCheck,
			rule: "Check returns nil where the plugin works",
			run: func(k *kit) {
				k.Check("Check", k.Backend.(swarm.Checker).Check(k.Ctx))
			},
		},
	}
}

func (k *kit) sweep(ended, running []swarm.Handle) {
	k.Helper()
	ctx, cancel := k.limited()
	defer cancel()
	_, err := k.Backend.(swarm.Sweeper).Sweep(ctx, ended, running)
	k.Check("Sweep", err)
}
