package backendtest

import (
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// soon is a delay before a restart that a case waits for.
const soon = 10 * time.Millisecond

func restartCases() []testCase {
	return []testCase{
		{
			name: "restart-after-a-failure", needs: swarm.CapRestart,
			rule: "a worker that failed is started again, until its budget is used up: a crash loop with the last exit",
			run: func(k *kit) {
				w := k.restarting(script.Fail, swarm.RestartOnFailure)
				for range budget + 1 {
					w.wantHeard("ready")
				}
				st := w.ended()
				k.wantExit(st, swarm.Exit{Code: 3, Cause: swarm.CauseCrashLoop})
				w.wantRestarts(st, 3)
			},
		},
		{
			name: "restart-always", needs: swarm.CapRestart,
			rule: "with RestartAlways a worker that exited with code 0 is started again, too",
			run: func(k *kit) {
				w := k.restarting(script.True, swarm.RestartAlways)
				st := w.ended()
				w.wantCause(st, swarm.CauseCrashLoop)
				w.wantRestarts(st, 0)
			},
		},
		{
			name: "restart-not-after-success", needs: swarm.CapRestart,
			rule: "with RestartOnFailure a worker that exited with code 0 has ended",
			run: func(k *kit) {
				w := k.restarting(script.True, swarm.RestartOnFailure)
				st := w.ended()
				w.wantCause(st, swarm.CauseExited)
				if st.Restarts != 0 {
					k.broken("it was started again %d times", st.Restarts)
				}
			},
		},
		{
			name: "restart-waits", needs: swarm.CapRestart,
			rule: "between two starts a worker is running, has no process and says why, and can be killed",
			run: func(k *kit) {
				w := k.newSpec(script.Fail)
				w.spec.Restart = swarm.Restart{When: swarm.RestartAlways, MinDelay: longGrace}
				w.start()
				var st swarm.Status
				k.until("the worker waits for its next start", func() bool {
					st = w.status()
					return st.PID == 0
				})
				if st.State != swarm.StateRunning || st.Reason == "" {
					k.broken("the status is %+v", st)
				}
				w.kill(gentle())
				k.wantExit(w.status(), swarm.Exit{Code: 3, Cause: swarm.CauseKilled})
			},
		},
		{
			name: "restart-not-after-a-kill", needs: swarm.CapRestart,
			rule: "a worker that was killed is not started again",
			run: func(k *kit) {
				w := k.restarting(script.Sleep, swarm.RestartAlways)
				w.wantHeard("ready")
				w.kill(gentle())
				k.await(10 * soon)
				st := w.status()
				w.wantCause(st, swarm.CauseKilled)
				if st.Restarts != 0 {
					k.broken("it was started again %d times", st.Restarts)
				}
			},
		},
		{
			name: "restart-not-after-completion", needs: swarm.CapRestart, also: swarm.CapComplete,
			rule: "a worker that has completed is not started again",
			run: func(k *kit) {
				w := k.restarting(script.Sleep, swarm.RestartAlways)
				w.wantHeard("ready")
				w.completed("done", swarm.KillOptions{Signal: "SIGTERM", Grace: shortGrace, Force: true})
				st := w.ended()
				w.wantCause(st, swarm.CauseCompleted)
				if st.Restarts != 0 {
					k.broken("it was started again %d times", st.Restarts)
				}
			},
		},
	}
}

// budget is that of the workers of the cases.
const budget = 2

// restarting starts a worker that is started again soon.
func (k *kit) restarting(s script.Script, when swarm.RestartWhen) *worker {
	k.Helper()
	w := k.newSpec(s)
	w.spec.Restart = swarm.Restart{When: when, MinDelay: soon, MaxDelay: soon, Budget: budget, Window: longGrace}
	w.start()
	return w
}

// wantRestarts checks the status of a worker whose budget is used up.
func (w *worker) wantRestarts(st swarm.Status, code int) {
	k := w.k
	k.Helper()
	if st.Restarts != budget || len(st.LastRestarts) != budget {
		k.broken("the restarts are %d: %+v", st.Restarts, st.LastRestarts)
	}
	for i, r := range st.LastRestarts {
		if r.Number != i+1 || r.Code != code || r.Signal != "" || r.Time.IsZero() {
			k.broken("restart %d is %+v", i+1, r)
		}
	}
}

// wantCause checks why the worker ended, however that was.
func (w *worker) wantCause(st swarm.Status, want swarm.Cause) {
	w.k.Helper()
	if st.State != swarm.StateExited || st.Exit == nil || st.Exit.Cause != want {
		w.k.broken("want an end by %q, got %+v, exit %+v", want, st, st.Exit)
	}
}
