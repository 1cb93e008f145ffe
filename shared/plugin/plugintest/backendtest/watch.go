package backendtest

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func watchCases() []testCase {
	return []testCase{
		{
			name: "watch-to-the-end", needs: swarm.CapWatch,
			rule: "Watch tells the status at once, and again when the worker no longer runs, and returns nil then",
			run: func(k *kit) {
				w := k.ready(script.Trap)
				told, err := w.watch(func(st swarm.Status) error {
					if st.State == swarm.StateRunning {
						w.kill(swarm.KillOptions{Signal: "SIGUSR1", Grace: patience, Force: true})
					}
					return nil
				})
				if err != nil || len(told) < 2 || told[0].State != swarm.StateRunning {
					k.fatal("told %+v, error %v", told, err)
				}
				k.wantExit(told[len(told)-1], swarm.Exit{Code: 7, Cause: swarm.CauseKilled})
			},
		},
		{
			name: "watch-what-ended", needs: swarm.CapWatch,
			rule: "Watch of a worker that has ended tells that once and returns nil",
			run: func(k *kit) {
				w := k.spawn(script.Lines)
				w.ended()
				told, err := w.watch(nil)
				if err != nil || len(told) != 1 {
					k.fatal("told %+v, error %v", told, err)
				}
				k.wantExit(told[0], swarm.Exit{Code: 3, Cause: swarm.CauseExited})
			},
		},
		{
			name: "watch-callback-fails", needs: swarm.CapWatch,
			rule: "Watch returns an error of each as it is",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				enough := errors.New("enough")
				if _, err := w.watch(func(swarm.Status) error { return enough }); err != enough { //nolint:errorlint // as it is
					k.broken("got %v", err)
				}
			},
		},
		{
			name: "watch-cancelled", needs: swarm.CapWatch,
			rule: "Watch obeys its context, and the worker goes on running",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				ctx, cancel := context.WithCancel(k.ctx)
				defer cancel()
				err := k.Backend.(swarm.Watcher).Watch(ctx, w.handle, func(swarm.Status) error {
					cancel()
					return nil
				})
				k.wantErr("Watch", err, context.Canceled)
				if st := w.status(); st.State != swarm.StateRunning {
					k.broken("the worker is %s", st.State)
				}
			},
		},
		{
			name: "watch-tells-restarts", needs: swarm.CapWatch, also: swarm.CapRestart,
			rule: "Watch tells of a worker that was started again",
			run: func(k *kit) {
				w := k.restarting(script.Sleep, swarm.RestartOnFailure)
				w.wantHeard("ready")
				killed := false
				told, err := w.watch(func(st swarm.Status) error {
					// The same status may be told twice; a second signal could meet the next start.
					if st.Restarts == 0 && st.PID != 0 && !killed {
						killed = true
						return w.signal("SIGKILL", swarm.KillMain)
					}
					if st.Restarts == 1 && st.PID != 0 && st.State == swarm.StateRunning {
						w.kill(gentle())
					}
					return nil
				})
				if err != nil {
					k.fatal("Watch: %v", err)
				}
				if last := told[len(told)-1]; last.State != swarm.StateExited || last.Restarts != 1 {
					k.broken("the last one told was %+v", last)
				}
			},
		},
		{
			name: "watch-tells-completion", needs: swarm.CapWatch, also: swarm.CapComplete,
			rule: "Watch tells of a worker that said that it is done, before it ends",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				n := 0
				told, err := w.watch(func(st swarm.Status) error {
					if n++; n == 1 {
						w.completed("done", patient())
					} else if st.State == swarm.StateRunning {
						w.kill(gentle())
					}
					return nil
				})
				if err != nil || len(told) < 3 || told[1].Completion == nil || told[1].State != swarm.StateRunning {
					k.broken("told %+v, error %v", told, err)
				}
			},
		},
	}
}

// watch watches the worker to its end and returns what was told.
func (w *worker) watch(each func(swarm.Status) error) ([]swarm.Status, error) {
	ctx, cancel := w.k.limited()
	defer cancel()
	var told []swarm.Status
	err := w.k.Backend.(swarm.Watcher).Watch(ctx, w.handle, func(st swarm.Status) error {
		told = append(told, st)
		if each == nil {
			return nil
		}
		return each(st)
	})
	return told, err
}
