package plugintest

import (
	"context"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func hostCases() []testCase {
	return []testCase{
		{
			name: "host-dies-in-kill", built: true,
			rule: "a plugin leaves in the middle of a Kill when its host is gone, and the Kill can be repeated by another host",
			run: func(k *kit) {
				w := k.ready(Deaf)
				left := k.plugin
				err := k.cutOff(func(ctx context.Context) error {
					_, err := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace})
					return err
				}, func() { w.hear() }, left.leave)
				k.wantErr("Kill", err, plugin.ErrPluginGone)
				k.until("the plugin has left", left.exited)
				w.survives()
			},
		},
		{
			name: "host-dies-in-output", built: true, needs: swarm.CapOutput,
			rule: "a plugin leaves while output is followed when its host is gone, and the worker goes on running",
			run: func(k *kit) {
				w := k.ready(Sleep)
				left := k.plugin
				err := k.cutOff(func(ctx context.Context) error {
					return k.Backend.(swarm.Outputter).Output(ctx, w.handle, swarm.OutputOptions{Follow: true},
						func(swarm.Output) error { return nil })
				}, func() { k.await(shortGrace) }, left.leave)
				k.wantErr("Output", err, plugin.ErrPluginGone)
				k.until("the plugin has left", left.exited)
				w.survives()
			},
		},
	}
}
