package backendtest

import (
	"context"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func crashLookCases() []testCase {
	return []testCase{
		{
			name: "crash-in-list", built: true, needs: swarm.CapList,
			rule: "when the plugin dies during List, the workers keep running",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					return k.Backend.(swarm.Lister).List(ctx, func(swarm.Listed) error { return nil })
				})
				w.survives()
			},
		},
		{
			name: "crash-in-stats", built: true, needs: swarm.CapStats,
			rule: "when the plugin dies during Stats, a new plugin process can measure, and the worker keeps running",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Measurer).Stats(ctx, []swarm.Handle{w.handle})
					return err
				})
				w.stats()
				w.survives()
			},
		},
		{
			name: "crash-in-status", built: true,
			rule: "when the plugin dies during Status, a new plugin process can answer, and the worker keeps running",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Status(ctx, w.handle)
					return err
				})
				w.survives()
			},
		},
		{
			name: "crash-in-find", built: true, needs: swarm.CapFind,
			rule: "when the plugin dies during Find, a new plugin process finds the worker",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Finder).Find(ctx, w.lookup())
					return err
				})
				_, err := w.find(k.subject)
				k.Check("Find", err)
				w.survives()
			},
		},
		{
			name: "crash-in-sweep", built: true, needs: swarm.CapSweep,
			rule: "when the plugin dies during Sweep, the Sweep can be repeated, and running workers are not affected",
			run: func(k *kit) {
				ended, w := k.ready(script.Sleep), k.ready(script.Sleep)
				ended.kill(gentle())
				dropped, kept := []swarm.Handle{ended.handle}, []swarm.Handle{w.handle}
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Sweeper).Sweep(ctx, dropped, kept)
					return err
				})
				k.sweep(dropped, kept)
				w.survives()
			},
		},
		{
			name: "crash-in-attach", built: true, needs: swarm.CapAttach,
			rule: "when the plugin dies during Attach, the worker keeps running",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Attacher).Attach(ctx, w.handle, swarm.AttachOptions{})
					return err
				})
				w.survives()
			},
		},
	}
}

// interrupted kills the plugin during a short call, and continues with another process of
// it.
func (w *worker) interrupted(call func(context.Context) error) {
	w.k.Helper()
	w.reopen(w.k.crashIn(call, func() {}))
}

// hostCases are about the end of the host in the middle of a call.
func hostCases() []testCase {
	return []testCase{
		{
			name: "host-dies-in-kill", built: true,
			rule: "a plugin exits during Kill when its host is gone, and another host can repeat the Kill",
			run: func(k *kit) {
				left := k.plugin
				w := k.cutOffKill(left.Leave)
				k.until("the plugin has left", left.Exited)
				w.survives()
			},
		},
		{
			name: "host-dies-in-output", built: true, needs: swarm.CapOutput,
			rule: "a plugin exits while output is followed when its host is gone, and the worker keeps running",
			run: func(k *kit) {
				left := k.plugin
				w := k.cutOffOutput(left.Leave)
				k.until("the plugin has left", left.Exited)
				w.survives()
			},
		},
	}
}
