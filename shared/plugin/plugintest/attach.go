package plugintest

import (
	"github.com/swarmhost/swarm/shared/swarm"
)

func attachCases() []testCase {
	return []testCase{
		{
			name: "attach-returns-a-command", needs: swarm.CapAttach,
			rule: "Attach returns a command and changes nothing",
			run: func(k *kit) {
				w := k.ready(Sleep)
				before := w.status()
				for range 2 {
					a, err := w.attach()
					if err != nil {
						k.fatal("Attach: %v", err)
					}
					if len(a.Command) == 0 || a.Command[0] == "" {
						k.broken("the command is %q", a.Command)
					}
				}
				if after := w.status(); after.State != before.State || after.PID != before.PID {
					k.broken("the worker was %+v and is %+v", before, after)
				}
			},
		},
		{
			name: "attach-after-the-end", needs: swarm.CapAttach,
			rule: "Attach to a worker that has ended is ErrNotFound",
			run: func(k *kit) {
				w := k.ready(Sleep)
				w.kill(gentle())
				_, err := w.attach()
				k.wantErr("Attach", err, swarm.ErrNotFound)
			},
		},
	}
}

func (w *worker) attach() (swarm.Attachment, error) {
	ctx, cancel := w.k.limited()
	defer cancel()
	return w.k.Backend.(swarm.Attacher).Attach(ctx, w.handle, swarm.AttachOptions{})
}
