package backendtest

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func crashInputCases() []testCase {
	return []testCase{
		{
			name: "crash-in-watch", built: true, needs: swarm.CapWatch,
			rule: "when the plugin dies during Watch, the worker keeps running",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				told := make(chan struct{}, 1)
				err := k.crashIn(func(ctx context.Context) error {
					return k.Backend.(swarm.Watcher).Watch(ctx, w.handle, func(swarm.Status) error {
						told <- struct{}{}
						return nil
					})
				}, func() { <-told })
				k.WantErr("Watch", err, plugin.ErrPluginGone)
				w.survives()
			},
		},
		{
			name: "crash-in-input", built: true, needs: swarm.CapInput, also: swarm.CapStdin,
			rule: "when the plugin dies during Input, the input arrives whole or not at all",
			run:  func(k *kit) { k.crashInInput() },
		},
		{
			name: "crash-in-signal", built: true, needs: swarm.CapSignal,
			rule: "when the plugin dies during Signal, the worker can still be signalled",
			run: func(k *kit) {
				w := k.ready(script.Trap)
				err := k.crashIn(func(ctx context.Context) error {
					return k.Backend.(swarm.Signaller).Signal(ctx, w.handle, swarm.SignalOptions{Signal: "SIGWINCH"})
				}, func() {})
				w.reopen(err)
				k.Must("Signal", w.signal("SIGUSR1", swarm.KillMain))
				k.wantExit(w.ended(), swarm.Exit{Code: 7, Cause: swarm.CauseExited})
			},
		},
		{
			name: "crash-in-screen", built: true, needs: swarm.CapScreen,
			rule: "when the plugin dies during Screen, the screen is unchanged",
			run: func(k *kit) {
				w := k.page()
				w.reopen(k.crashIn(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Screener).Screen(ctx, w.handle, swarm.ScreenOptions{})
					return err
				}, func() {}))
				w.wantScreen(3, pageLines(3), false)
			},
		},
		{
			name: "crash-in-complete", built: true, needs: swarm.CapComplete,
			rule: "when the plugin dies during Complete, the completion is recorded and carried out, or not recorded at all",
			run: func(k *kit) {
				for i := range 5 {
					k.crashInComplete(time.Duration(i) * time.Millisecond)
				}
			},
		},
		{
			name: "crash-after-complete", built: true, needs: swarm.CapComplete,
			rule: "a completion is carried out without the plugin",
			run: func(k *kit) {
				w := k.ready(script.Stubborn)
				w.completed("done", swarm.KillOptions{Grace: shortGrace, Force: true})
				k.plugin.Crash()
				w.reopen(nil)
				k.wantExit(w.ended(), swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseCompleted})
			},
		},
		{
			name: "crash-and-restart", built: true, needs: swarm.CapRestart,
			rule: "a worker is restarted without the plugin",
			run: func(k *kit) {
				w := k.newSpec(script.Fail)
				w.spec.Restart = swarm.Restart{When: swarm.RestartAlways, MinDelay: shortGrace, Budget: 1, Window: longGrace}
				w.start()
				w.wantLine("ready")
				k.plugin.Crash()
				w.reopen(nil)
				w.wantLine("ready")
				k.wantExit(w.ended(), swarm.Exit{Code: 3, Cause: swarm.CauseCrashLoop})
			},
		},
	}
}

// reopen goes on with another process of the plugin, after a call that the death
// of the one before may have cut off.
func (w *worker) reopen(err error) {
	k := w.k
	k.Helper()
	if err != nil && !errors.Is(err, plugin.ErrPluginGone) {
		k.Broken("the interrupted call: %v", err)
	}
	k.subject = k.open(k.T)
	w.started(w.handle)
}

// crashInInput kills the plugin at several moments of an input.
func (k *kit) crashInInput() {
	k.Helper()
	const givers, lines = 8, 200
	w := k.echo()
	for i := range givers {
		w.reopen(k.crashIn(func(ctx context.Context) error {
			_, err := k.Backend.(swarm.Inputter).Input(ctx, w.handle, swarm.Input{Data: []byte(numbered(i, lines)), Enter: true})
			return err
		}, func() { k.await(time.Duration(i) * time.Millisecond / 2) }))
	}
	// Earlier inputs have arrived before this one, which is of the same kind.
	w.give(swarm.Input{Data: []byte(numbered(givers, lines)), Enter: true})
	w.wantWholeUpTo(givers, lines)
}

// crashInComplete kills the plugin some time after a Complete was asked for.
func (k *kit) crashInComplete(after time.Duration) {
	k.Helper()
	w := k.ready(script.Trap)
	err := k.crashIn(func(ctx context.Context) error {
		return k.Backend.(swarm.Completer).Complete(ctx, w.handle, "done", patient())
	}, func() { k.await(after) })
	w.reopen(err)
	recorded := w.status().Completion != nil
	if err == nil && !recorded {
		k.Broken("Complete succeeded, but the completion is not recorded")
	}
	w.kill(swarm.KillOptions{Signal: "SIGUSR1", Grace: patience, Force: true})
	st := w.status()
	// A spawn in progress may have completed before the kill.
	cause := swarm.CauseKilled
	if st.Completion != nil {
		cause = swarm.CauseCompleted
	}
	k.wantExit(st, swarm.Exit{Code: 7, Cause: cause})
	if recorded && st.Completion == nil {
		k.Broken("the completion was lost")
	}
}
