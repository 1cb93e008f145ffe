package backendtest

import (
	"context"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func crashLookCases() []testCase {
	return []testCase{
		{
			name: "crash-in-list", built: true, needs: swarm.CapList,
			rule: "when the plugin dies in a List, the workers go on running",
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
			rule: "when the plugin dies in a Stats, another process of it measures, and the worker goes on running",
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
			rule: "when the plugin dies in a Status, another process of it answers, and the worker goes on running",
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
			rule: "when the plugin dies in a Find, another process of it finds the worker",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Finder).Find(ctx, w.lookup())
					return err
				})
				if _, err := w.find(k.subject); err != nil {
					k.broken("Find: %v", err)
				}
				w.survives()
			},
		},
		{
			name: "crash-in-sweep", built: true, needs: swarm.CapSweep,
			rule: "when the plugin dies in a Sweep, it can be repeated, and nothing that runs is touched",
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
			rule: "when the plugin dies in an Attach, the worker goes on running",
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
			rule: "a plugin leaves in the middle of a Kill when its host is gone, and the Kill can be repeated by another host",
			run: func(k *kit) {
				w := k.ready(script.Deaf)
				left := k.plugin
				err := k.cutOff(func(ctx context.Context) error {
					_, err := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace})
					return err
				}, func() { w.hear() }, left.Leave)
				k.wantErr("Kill", err, plugin.ErrPluginGone)
				k.until("the plugin has left", left.Exited)
				w.survives()
			},
		},
		{
			name: "host-dies-in-output", built: true, needs: swarm.CapOutput,
			rule: "a plugin leaves while output is followed when its host is gone, and the worker goes on running",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				left := k.plugin
				err := k.cutOff(func(ctx context.Context) error {
					return k.Backend.(swarm.Outputter).Output(ctx, w.handle, swarm.OutputOptions{Follow: true},
						func(swarm.Output) error { return nil })
				}, func() { k.await(shortGrace) }, left.Leave)
				k.wantErr("Output", err, plugin.ErrPluginGone)
				k.until("the plugin has left", left.Exited)
				w.survives()
			},
		},
	}
}
