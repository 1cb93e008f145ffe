package backendtest

import (
	"slices"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func signalCases() []testCase {
	return []testCase{
		{
			name: "signal-arrives", needs: swarm.CapSignal,
			rule: "Signal sends the signal, and an end by it is the worker's own",
			run: func(k *kit) {
				w := k.ready(script.Trap)
				if err := w.signal("SIGUSR1", swarm.KillMain); err != nil {
					k.fatal("Signal: %v", err)
				}
				k.wantExit(w.ended(), swarm.Exit{Code: 7, Cause: swarm.CauseExited})
			},
		},
		{
			name: "signal-by-any-name", needs: swarm.CapSignal,
			rule: "Signal takes every name that ParseSignal takes, and others are ErrInvalidSpec",
			run: func(k *kit) {
				w := k.ready(script.Trap)
				k.wantErr("Signal", w.signal("SIGNOTHING", swarm.KillTree), swarm.ErrInvalidSpec)
				if err := w.signal("usr1", swarm.KillTree); err != nil {
					k.broken("Signal: %v", err)
				}
			},
		},
		{
			name: "signal-mode", needs: swarm.CapSignal, local: true,
			rule: "with KillMain the main process alone gets the signal, with KillTree every process does",
			run: func(k *kit) {
				w := k.spawn(script.Pair)
				w.wantSaid("child ready", "ready")
				for _, mode := range []swarm.KillMode{swarm.KillMain, swarm.KillTree} {
					if err := w.signal("SIGUSR1", mode); err != nil {
						k.fatal("Signal: %v", err)
					}
					if mode == swarm.KillMain {
						w.wantSaid("main")
					} else {
						w.wantSaid("child", "main")
					}
				}
				if !w.silent() {
					k.broken("the child got the signal of KillMain")
				}
			},
		},
		{
			name: "signal-after-the-end", needs: swarm.CapSignal,
			rule: "Signal for a worker that has ended is ErrNotFound",
			run: func(k *kit) {
				w := k.spawn(script.True)
				w.ended()
				k.wantErr("Signal", w.signal("SIGUSR1", swarm.KillTree), swarm.ErrNotFound)
			},
		},
	}
}

func (w *worker) signal(name string, mode swarm.KillMode) error {
	ctx, cancel := w.k.limited()
	defer cancel()
	return w.k.Backend.(swarm.Signaller).Signal(ctx, w.handle, swarm.SignalOptions{Signal: name, Mode: mode})
}

// wantSaid checks the next lines of the worker, in any order.
func (w *worker) wantSaid(want ...string) {
	w.k.Helper()
	var got []string
	for range want {
		got = append(got, w.hear())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.k.fatal("the worker said %q instead of %q", got, want)
	}
}
