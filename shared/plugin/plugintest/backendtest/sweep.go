package backendtest

import (
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func sweepCases() []testCase {
	return []testCase{
		{
			name: "sweep-spares-the-running", needs: swarm.CapSweep,
			rule: "Sweep drops nothing that a running worker uses, and what ended stays ended",
			run: func(k *kit) {
				ended, running := k.ready(script.Sleep), k.ready(script.Sleep)
				ended.kill(gentle())
				k.sweep([]swarm.Handle{ended.handle}, []swarm.Handle{running.handle})
				if st := running.status(); st.State != swarm.StateRunning {
					k.broken("the running worker is %s", st.State)
				}
				if st := ended.status(); st.State != swarm.StateExited {
					k.broken("the ended worker is %s", st.State)
				}
			},
		},
		{
			name: "sweep-after-the-last", needs: swarm.CapSweep,
			rule: "Sweep after the last worker ended works, and again when there is nothing left to drop",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				w.kill(gentle())
				k.sweep([]swarm.Handle{w.handle}, nil)
				k.sweep([]swarm.Handle{w.handle}, nil)
				k.sweep(nil, nil)
				if st := w.status(); st.State != swarm.StateExited {
					k.broken("the ended worker is %s", st.State)
				}
			},
		},
		{
			name: "check", needs: swarm.CapCheck,
			rule: "Check returns nil where the plugin works",
			run: func(k *kit) {
				if err := k.Backend.(swarm.Checker).Check(k.ctx); err != nil {
					k.broken("%v", err)
				}
			},
		},
	}
}

func (k *kit) sweep(ended, running []swarm.Handle) {
	k.Helper()
	ctx, cancel := k.limited()
	defer cancel()
	if _, err := k.Backend.(swarm.Sweeper).Sweep(ctx, ended, running); err != nil {
		k.broken("Sweep: %v", err)
	}
}
