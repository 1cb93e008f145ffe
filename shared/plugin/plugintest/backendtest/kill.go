package backendtest

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func killCases() []testCase {
	return []testCase{
		newCase("kill-ends", scope{},
			"Kill without an error means that the worker has ended, by Kill",
			func(k *kit) {
				w := k.ready(script.Sleep)
				r := w.kill(gentle())
				if r.Status.State != swarm.StateExited || r.AlreadyEnded || r.Forced || len(r.Survivors) > 0 {
					k.Broken("got %+v", r)
				}
				st := w.status()
				if st.State != swarm.StateExited || st.Exit.Cause != swarm.CauseKilled {
					k.Broken("the status afterwards is %+v", st)
				}
			}),
		newCase("kill-again", scope{},
			"Kill is idempotent: a worker that has already ended is a success, is not signalled and keeps its exit",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.kill(gentle())
				before := w.status()
				for range 2 {
					if r := w.kill(gentle()); !r.AlreadyEnded || r.Signal != "" || r.Forced {
						k.Broken("Kill of a killed worker: %+v", r)
					}
				}
				if after := w.status(); !reflect.DeepEqual(after.Exit, before.Exit) {
					k.Broken("the exit was %s, now it is %s", before.Exit, after.Exit)
				}
			}),
		newCase("kill-after-exit", scope{},
			"Kill of a worker that ended by itself is a success and keeps its exit",
			func(k *kit) {
				w := k.finished(script.Lines)
				if r := w.kill(gentle()); !r.AlreadyEnded {
					k.Broken("got %+v", r)
				}
				k.wantExit(w.status(), swarm.Exit{Code: 3, Cause: swarm.CauseExited})
			}),
		newCase("kill-forces", scope{},
			"with Force, Kill ends processes that ignore the signal after the grace, and reports it",
			func(k *kit) {
				w := k.ready(script.Stubborn)
				start := time.Now()
				r := w.kill(swarm.KillOptions{Signal: "SIGTERM", Grace: shortGrace, Force: true})
				if took := time.Since(start); took < shortGrace {
					k.Broken("the worker had %[2]v instead of the grace of %[1]v", shortGrace, took)
				}
				if !r.Forced || r.Signal != "SIGTERM" {
					k.Broken("got %+v", r)
				}
				k.wantExit(w.status(), swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled})
			}),
		newCase("kill-does-not-force", scope{},
			"without Force, processes that are alive after the grace are named with ErrSurvivors and keep running",
			func(k *kit) {
				w := k.ready(script.Stubborn)
				ctx, cancel := k.limited()
				defer cancel()
				r, err := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: shortGrace})
				k.WantErr("Kill", err, swarm.ErrSurvivors)
				if len(r.Survivors) == 0 || r.Survivors[0].Name == "" || k.local && r.Survivors[0].PID <= 0 {
					k.Broken("the survivors are %+v", r.Survivors)
				}
				w.wantState(swarm.StateRunning, "the worker")
				w.kill(swarm.KillOptions{Signal: "SIGTERM", Grace: 0, Force: true})
			}),
		newCase("kill-signal", scope{},
			"Signal is the first signal that the worker gets",
			func(k *kit) {
				w := k.ready(script.Trap)
				if r := w.kill(swarm.KillOptions{Signal: "SIGUSR1", Grace: patience, Force: true}); r.Signal != "SIGUSR1" || r.Forced {
					k.Broken("got %+v", r)
				}
				k.wantExit(w.status(), swarm.Exit{Code: 7, Cause: swarm.CauseKilled})
			}),
		newCase("kill-harsher", scope{},
			"a second, harsher Kill takes effect at once while the first waits for its grace, and both succeed",
			func(k *kit) {
				w := k.ready(script.Deaf)
				ctx, cancel := k.limited()
				defer cancel()
				var first error
				var patient sync.WaitGroup
				patient.Go(func() {
					_, first = k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace, Force: true})
				})
				w.wantLine("heard")
				_, second := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGKILL", Force: true})
				patient.Wait()
				k.Check("Kill", errors.Join(first, second))
				w.wantState(swarm.StateExited, "the worker")
			}),
		newCase("kill-together", scope{},
			"several Kills of one worker at once all succeed",
			func(k *kit) {
				w := k.ready(script.Sleep)
				errs := make([]error, 5)
				ctx, cancel := k.limited()
				defer cancel()
				harness.Together(len(errs), func(i int) { _, errs[i] = k.Kill(ctx, w.handle, gentle()) })
				k.Check("Kill", errors.Join(errs...))
			}),
		newCase("kill-cancelled", scope{},
			"Kill obeys its context: it returns soon, with the error of the context",
			func(k *kit) {
				w := k.ready(script.Stubborn)
				ctx, cancel := context.WithTimeout(k.Ctx, shortGrace)
				defer cancel()
				start := time.Now()
				_, err := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace})
				k.WantErr("Kill", err, context.DeadlineExceeded)
				if took := time.Since(start); took > patience {
					k.Broken("it took %v", took)
				}
			}),
		newCase("kill-detached", scope{},
			"with Detach, Kill returns once it has begun, and is carried out without the plugin",
			func(k *kit) {
				w := k.ready(script.Stubborn)
				o := swarm.KillOptions{Signal: "SIGTERM", Grace: shortGrace, Force: true, Detach: true}
				w.kill(o)
				if st := w.ended(); st.State != swarm.StateExited {
					k.Broken("the worker is %s", st.State)
				}
			}),
		newCase("kill-leaves-others-alone", scope{},
			"Kill of one worker does not affect another, whatever their names are",
			func(k *kit) {
				short, long := k.newSpec(script.Sleep), k.newSpec(script.Sleep)
				short.spec.Name, long.spec.Name = "w.1", "w.10"
				short.start()
				long.start()
				short.kill(gentle())
				short.kill(gentle())
				long.wantState(swarm.StateRunning, "after 'w.1' was killed, 'w.10'")
			}),
	}
}
