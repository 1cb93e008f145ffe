package backendtest

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func watchCases() []testCase {
	return []testCase{
		newCase("watch-to-the-end", scope{needs: swarm.CapWatch},
			"Watch reports the status at once and again when the worker no longer runs, and then returns nil",
			func(k *kit) {
				w := k.ready(script.Trap)
				statuses, err := w.watch(func(st swarm.Status) error {
					if st.State == swarm.StateRunning {
						w.kill(swarm.KillOptions{Signal: "SIGUSR1", Grace: patience, Force: true})
					}
					return nil
				})
				if err != nil || len(statuses) < 2 || statuses[0].State != swarm.StateRunning {
					k.Fatal("the reported statuses are %+v, error %v", statuses, err)
				}
				k.wantExit(statuses[len(statuses)-1], swarm.Exit{Code: 7, Cause: swarm.CauseKilled})
			}),
		newCase("watch-what-ended", scope{needs: swarm.CapWatch},
			"Watch of a worker that has ended reports the status once and returns nil",
			func(k *kit) {
				w := k.finished(script.Lines)
				statuses, err := w.watch(nil)
				if err != nil || len(statuses) != 1 {
					k.Fatal("the reported statuses are %+v, error %v", statuses, err)
				}
				k.wantExit(statuses[0], swarm.Exit{Code: 3, Cause: swarm.CauseExited})
			}),
		newCase("watch-callback-fails", scope{needs: swarm.CapWatch},
			"Watch returns an error of its callback unchanged",
			func(k *kit) {
				w := k.ready(script.Sleep)
				enough := errors.New("enough")
				if _, err := w.watch(func(swarm.Status) error { return enough }); err != enough { //nolint:errorlint // as it is
					k.Broken("got %v", err)
				}
			}),
		newCase("watch-cancelled", scope{needs: swarm.CapWatch},
			"Watch obeys its context, and the worker keeps running",
			func(k *kit) {
				w := k.ready(script.Sleep)
				ctx, cancel := context.WithCancel(k.Ctx)
				defer cancel()
				err := k.Backend.(swarm.Watcher).Watch(ctx, w.handle, func(swarm.Status) error {
					cancel()
					return nil
				})
				k.WantErr("Watch", err, context.Canceled)
				w.wantState(swarm.StateRunning, "the worker")
			}),
		newCase("watch-reports-restarts", scope{needs: swarm.CapWatch, also: swarm.CapRestart},
			"Watch reports a restart",
			func(k *kit) {
				w := k.restarted(script.Sleep, swarm.RestartOnFailure)
				w.wantLine("ready")
				killed := false
				statuses, err := w.watch(func(st swarm.Status) error {
					// The same status may be reported twice; a second signal could meet the next start.
					if st.Restarts == 0 && st.PID != 0 && !killed {
						killed = true
						return w.signal("SIGKILL", swarm.KillMain)
					}
					if st.Restarts == 1 && st.PID != 0 && st.State == swarm.StateRunning {
						w.kill(gentle())
					}
					return nil
				})
				k.Must("Watch", err)
				if last := statuses[len(statuses)-1]; last.State != swarm.StateExited || last.Restarts != 1 {
					k.Broken("the last reported status is %+v", last)
				}
			}),
		newCase("watch-reports-completion", scope{needs: swarm.CapWatch, also: swarm.CapComplete},
			"Watch reports a completion before the worker ends",
			func(k *kit) {
				w := k.ready(script.Sleep)
				n := 0
				statuses, err := w.watch(func(st swarm.Status) error {
					if n++; n == 1 {
						w.completed("done", patient())
					} else if st.State == swarm.StateRunning {
						w.kill(gentle())
					}
					return nil
				})
				if err != nil || len(statuses) < 3 || statuses[1].Completion == nil || statuses[1].State != swarm.StateRunning {
					k.Broken("the reported statuses are %+v, error %v", statuses, err)
				}
			}),
	}
}

// watch watches the worker to its end and returns the reported statuses.
func (w *worker) watch(each func(swarm.Status) error) ([]swarm.Status, error) {
	ctx, cancel := w.limited()
	defer cancel()
	var statuses []swarm.Status
	err := w.Backend.(swarm.Watcher).Watch(ctx, w.handle, func(st swarm.Status) error {
		statuses = append(statuses, st)
		if each == nil {
			return nil
		}
		return each(st)
	})
	return statuses, err
}
