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
		{
			name: "kill-ends",
			rule: "Kill without an error means that the worker has ended, by Kill",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				r := w.kill(gentle())
				if r.Status.State != swarm.StateExited || r.AlreadyEnded || r.Forced || len(r.Survivors) > 0 {
					k.broken("got %+v", r)
				}
				st := w.status()
				if st.State != swarm.StateExited || st.Exit.Cause != swarm.CauseKilled {
					k.broken("the status afterwards is %+v", st)
				}
			},
		},
		{
			name: "kill-again",
			rule: "Kill is idempotent: what had ended is a success, is not signalled, and keeps its exit",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				w.kill(gentle())
				before := w.status()
				for range 2 {
					if r := w.kill(gentle()); !r.AlreadyEnded || r.Signal != "" || r.Forced {
						k.broken("Kill of a killed worker: %+v", r)
					}
				}
				if after := w.status(); !reflect.DeepEqual(after.Exit, before.Exit) {
					k.broken("the exit was %s, now it is %s", before.Exit, after.Exit)
				}
			},
		},
		{
			name: "kill-after-exit",
			rule: "Kill of a worker that ended by itself is a success and keeps its exit",
			run: func(k *kit) {
				w := k.spawn(script.Lines)
				w.ended()
				if r := w.kill(gentle()); !r.AlreadyEnded {
					k.broken("got %+v", r)
				}
				k.wantExit(w.status(), swarm.Exit{Code: 3, Cause: swarm.CauseExited})
			},
		},
		{
			name: "kill-forces",
			rule: "with Force, Kill ends after the grace what ignores the signal, and says so",
			run: func(k *kit) {
				w := k.ready(script.Stubborn)
				start := time.Now()
				r := w.kill(swarm.KillOptions{Signal: "SIGTERM", Grace: shortGrace, Force: true})
				if took := time.Since(start); took < shortGrace {
					k.broken("the grace was %v, the worker had %v", shortGrace, took)
				}
				if !r.Forced || r.Signal != "SIGTERM" {
					k.broken("got %+v", r)
				}
				k.wantExit(w.status(), swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled})
			},
		},
		{
			name: "kill-does-not-force",
			rule: "without Force, what is alive after the grace is named with ErrSurvivors and goes on running",
			run: func(k *kit) {
				w := k.ready(script.Stubborn)
				ctx, cancel := k.limited()
				defer cancel()
				r, err := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: shortGrace})
				k.wantErr("Kill", err, swarm.ErrSurvivors)
				if len(r.Survivors) == 0 || r.Survivors[0].Name == "" || k.local && r.Survivors[0].PID <= 0 {
					k.broken("the survivors are %+v", r.Survivors)
				}
				if st := w.status(); st.State != swarm.StateRunning {
					k.broken("the worker is %s", st.State)
				}
				// It can be killed again.
				w.kill(swarm.KillOptions{Signal: "SIGTERM", Grace: 0, Force: true})
			},
		},
		{
			name: "kill-signal",
			rule: "Signal is the first signal that the worker gets",
			run: func(k *kit) {
				w := k.ready(script.Trap)
				if r := w.kill(swarm.KillOptions{Signal: "SIGUSR1", Grace: patience, Force: true}); r.Signal != "SIGUSR1" || r.Forced {
					k.broken("got %+v", r)
				}
				k.wantExit(w.status(), swarm.Exit{Code: 7, Cause: swarm.CauseKilled})
			},
		},
		{
			name: "kill-harsher",
			rule: "a second, harsher Kill takes effect at once while the first waits out its grace, and both succeed",
			run:  func(k *kit) { k.harsher() },
		},
		{
			name: "kill-together",
			rule: "several Kills of one worker at once all succeed",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				errs := make([]error, 5)
				ctx, cancel := k.limited()
				defer cancel()
				harness.Together(len(errs), func(i int) { _, errs[i] = k.Kill(ctx, w.handle, gentle()) })
				if err := errors.Join(errs...); err != nil {
					k.broken("%v", err)
				}
			},
		},
		{
			name: "kill-cancelled",
			rule: "Kill obeys its context: it returns soon, with the error of the context",
			run: func(k *kit) {
				w := k.ready(script.Stubborn)
				ctx, cancel := context.WithTimeout(k.ctx, shortGrace)
				defer cancel()
				start := time.Now()
				_, err := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace})
				k.wantErr("Kill", err, context.DeadlineExceeded)
				if took := time.Since(start); took > patience {
					k.broken("it took %v", took)
				}
			},
		},
		{
			name: "kill-detached",
			rule: "with Detach, Kill returns once it is under way, and is carried through without the plugin",
			run: func(k *kit) {
				w := k.ready(script.Stubborn)
				o := swarm.KillOptions{Signal: "SIGTERM", Grace: shortGrace, Force: true, Detach: true}
				w.kill(o)
				if st := w.ended(); st.State != swarm.StateExited {
					k.broken("the worker is %s", st.State)
				}
			},
		},
		{
			name: "kill-leaves-others-alone",
			rule: "Kill of one worker touches no other, whatever their names",
			run: func(k *kit) {
				short, long := k.newSpec(script.Sleep), k.newSpec(script.Sleep)
				short.spec.Name, long.spec.Name = "w.1", "w.10"
				short.start()
				long.start()
				short.kill(gentle())
				short.kill(gentle())
				if st := long.status(); st.State != swarm.StateRunning {
					k.broken("'w.10' is %s after 'w.1' was killed", st.State)
				}
			},
		},
	}
}

// harsher kills a worker for the second time while the first Kill is under way.
func (k *kit) harsher() {
	k.Helper()
	w := k.ready(script.Deaf)
	ctx, cancel := k.limited()
	defer cancel()
	var first error
	var patient sync.WaitGroup
	patient.Go(func() {
		_, first = k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace, Force: true})
	})
	if got := w.hear(); got != "heard" {
		k.Fatalf("at SIGTERM the worker said %q", got)
	}
	_, second := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGKILL", Force: true})
	patient.Wait()
	if err := errors.Join(first, second); err != nil {
		k.broken("%v", err)
	}
	if st := w.status(); st.State != swarm.StateExited {
		k.broken("the worker is %s", st.State)
	}
}
