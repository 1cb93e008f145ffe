package backendtest

import (
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// soon is a delay before a restart that a case waits for.
const soon = 10 * time.Millisecond

func restartCases() []testCase {
	return []testCase{
		newCase("restart-after-a-failure", scope{needs: swarm.CapRestart},
			"a worker that failed is restarted until its budget is used up; then its cause is crash-loop, with the last exit",
			func(k *kit) {
				w := k.restarted(script.Fail, swarm.RestartOnFailure)
				for range budget + 1 {
					w.wantLine("ready")
				}
				st := w.ended()
				k.wantExit(st, swarm.Exit{Code: 3, Cause: swarm.CauseCrashLoop})
				w.wantRestarts(st, 3)
			}),
		newCase("restart-always", scope{needs: swarm.CapRestart},
			"with RestartAlways, a worker that exited with code 0 is restarted too",
			func(k *kit) {
				w := k.restarted(script.True, swarm.RestartAlways)
				st := w.ended()
				w.wantCause(st, swarm.CauseCrashLoop, budget)
				w.wantRestarts(st, 0)
			}),
		newCase("restart-not-after-success", scope{needs: swarm.CapRestart},
			"with RestartOnFailure, a worker that exited with code 0 is not restarted",
			func(k *kit) {
				w := k.restarted(script.True, swarm.RestartOnFailure)
				w.wantCause(w.ended(), swarm.CauseExited, 0)
			}),
		newCase("restart-waits", scope{needs: swarm.CapRestart},
			"between two starts, a worker is running without a process, its status has the reason, and it can be killed",
			func(k *kit) {
				w := k.newSpec(script.Fail)
				w.spec.Restart = swarm.Restart{When: swarm.RestartAlways, MinDelay: longGrace}
				w.start()
				var st swarm.Status
				if !harness.ComesTrue(k.Ctx, func() bool {
					st = w.status()
					return st.PID == 0
				}) {
					k.Fatalf("the worker does not wait for its next start, its last status was %+v", st)
				}
				if st.State != swarm.StateRunning || st.Reason == "" {
					k.Broken("the status is %+v", st)
				}
				w.kill(gentle())
				k.wantExit(w.status(), swarm.Exit{Code: 3, Cause: swarm.CauseKilled})
			}),
		newCase("restart-not-after-a-kill", scope{needs: swarm.CapRestart},
			"a worker that was killed is not restarted",
			func(k *kit) {
				w := k.restarted(script.Sleep, swarm.RestartAlways)
				w.wantLine("ready")
				w.kill(gentle())
				k.await(10 * soon)
				w.wantCause(w.status(), swarm.CauseKilled, 0)
			}),
		newCase("restart-not-after-completion", scope{needs: swarm.CapRestart, also: swarm.CapComplete},
			"a worker that has completed is not restarted",
			func(k *kit) {
				w := k.restarted(script.Sleep, swarm.RestartAlways)
				w.wantLine("ready")
				w.completed("done", swarm.KillOptions{Signal: "SIGTERM", Grace: shortGrace, Force: true})
				w.wantCause(w.ended(), swarm.CauseCompleted, 0)
			}),
	}
}

// budget is the budget of workers that are restarted soon.
const budget = 2

func (k *kit) restarted(s script.Script, when swarm.RestartWhen) *worker {
	k.Helper()
	w := k.newSpec(s)
	w.spec.Restart = swarm.Restart{When: when, MinDelay: soon, MaxDelay: soon, Budget: budget, Window: longGrace}
	w.start()
	return w
}

// wantRestarts checks the status of a worker whose budget is used up.
func (w *worker) wantRestarts(st swarm.Status, code int) {
	w.Helper()
	if st.Restarts != budget || len(st.LastRestarts) != budget {
		w.Broken("the restarts are %d: %+v", st.Restarts, st.LastRestarts)
	}
	for i, r := range st.LastRestarts {
		if r.Number != i+1 || r.Code != code || r.Signal != "" || r.Time.IsZero() {
			w.Broken("restart %d is %+v", i+1, r)
		}
	}
}

// wantCause checks the cause of the worker's end and its restarts.
func (w *worker) wantCause(st swarm.Status, want swarm.Cause, restarts int) {
	w.Helper()
	if st.State != swarm.StateExited || st.Exit == nil || st.Exit.Cause != want || st.Restarts != restarts {
		w.Broken("want an end by %q after %d restarts, got %+v, exit %+v", want, restarts, st, st.Exit)
	}
}
