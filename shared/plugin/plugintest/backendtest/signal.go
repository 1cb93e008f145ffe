package backendtest

import (
	"slices"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func signalCases() []testCase {
	return []testCase{
		newCase("signal-arrives", scope{needs: swarm.CapSignal},
			"Signal sends the signal, and an exit that it causes counts as the worker's own",
			func(k *kit) {
				w := k.ready(script.Trap)
				k.Must("Signal", w.signal("SIGUSR1", swarm.KillMain))
				k.wantExit(w.ended(), swarm.Exit{Code: 7, Cause: swarm.CauseExited})
			}),
		newCase("signal-by-any-name", scope{needs: swarm.CapSignal},
			"Signal accepts every name that ParseSignal accepts; others are ErrInvalidSpec",
			func(k *kit) {
				w := k.ready(script.Trap)
				k.WantErr("Signal", w.signal("SIGNOTHING", swarm.KillTree), swarm.ErrInvalidSpec)
				k.Check("Signal", w.signal("usr1", swarm.KillTree))
			}),
		newCase("signal-mode", scope{needs: swarm.CapSignal, local: true},
			"with KillMain only the main process gets the signal, with KillTree every process does",
			func(k *kit) {
				w := k.spawn(script.Pair)
				w.wantSorted("child ready", "ready")
				for _, mode := range []swarm.KillMode{swarm.KillMain, swarm.KillTree} {
					k.Must("Signal", w.signal("SIGUSR1", mode))
					if mode == swarm.KillMain {
						w.wantSorted("main")
					} else {
						w.wantSorted("child", "main")
					}
				}
				if !w.silent() {
					k.Broken("the child got the signal that was sent with KillMain")
				}
			}),
	}
}

func (w *worker) signal(name string, mode swarm.KillMode) error {
	ctx, cancel := w.limited()
	defer cancel()
	return w.Backend.(swarm.Signaller).Signal(ctx, w.handle, swarm.SignalOptions{Signal: name, Mode: mode})
}

// wantSorted checks the next lines of the worker, in any order.
func (w *worker) wantSorted(want ...string) {
	w.Helper()
	var got []string
	for range want {
		got = append(got, w.readLine())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.Fatal("the worker wrote %q instead of %q", got, want)
	}
}
