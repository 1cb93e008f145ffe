package backendtest

import (
	"context"
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func boundsCases() []testCase {
	return []testCase{
		newCase("pause", scope{needs: swarm.CapPause},
			"from the end of SetPaused until its next call, the status of a running worker says whether it is paused",
			func(k *kit) {
				w := k.ready(script.Sleep)
				// SetPaused may be repeated.
				for _, paused := range []bool{false, true, true, false, false} {
					w.setPaused(paused)
					if st := w.status(); st.State != swarm.StateRunning || st.Paused != paused {
						k.Broken("after SetPaused(%v) the worker is %s, paused %v", paused, st.State, st.Paused)
					}
				}
			}),
		newCase("pause-then-kill", scope{needs: swarm.CapPause},
			"Kill ends a paused worker like any other",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.setPaused(true)
				w.kill(gentle())
				if st := w.status(); st.State != swarm.StateExited || st.Paused {
					k.Broken("after Kill the worker is %s, paused %v", st.State, st.Paused)
				}
			}),
		newCase("progress-after-spawn", scope{needs: swarm.CapProgress},
			"Progress returns at once, without a text and without an error, if no Spawn of that id is in progress",
			func(k *kit) {
				w := k.ready(script.Sleep)
				ctx, cancel := k.limited()
				defer cancel()
				for _, id := range []string{w.spec.ID, "never-spawned"} {
					err := k.Backend.(swarm.Progresser).Progress(ctx, id, func(text string) error {
						k.Broken("Progress of '%s' says %q", id, text)
						return nil
					})
					k.Check("Progress of '"+id+"'", err)
				}
			}),
		newCase("limits-that-make-no-sense", scope{needs: swarm.CapSetLimits},
			"SetLimits with a limit out of its bounds is ErrInvalidSpec",
			func(k *kit) {
				w := k.ready(script.Sleep)
				for _, l := range []swarm.Limits{{Memory: -1}, {CPUs: -1}, {PIDs: -1}, {Nice: 20}, {IOWeight: -1}} {
					ctx, cancel := k.limited()
					k.WantErr("SetLimits", k.Backend.(swarm.Limiter).SetLimits(ctx, w.handle, l), swarm.ErrInvalidSpec)
					cancel()
				}
			}),
		newCase("crash-in-pause", scope{built: true, needs: swarm.CapPause},
			"when the plugin dies during SetPaused, a new plugin process can pause and resume the worker",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					return k.Backend.(swarm.Pauser).SetPaused(ctx, w.handle, true)
				})
				w.setPaused(false)
				w.survives()
			}),
	}
}

func (w *worker) setPaused(paused bool) {
	w.Helper()
	ctx, cancel := w.limited()
	defer cancel()
	w.Must(fmt.Sprintf("SetPaused(%v)", paused), w.Backend.(swarm.Pauser).SetPaused(ctx, w.handle, paused))
}
