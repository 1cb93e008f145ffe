package backendtest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

func crashCases() []testCase {
	return []testCase{
		newCase("crash-in-kill", scope{built: true},
			"when the plugin dies during Kill, a new plugin process can repeat the Kill",
			func(k *kit) { k.cutOffKill(k.plugin.Crash).survives() }),
		newCase("crash-in-output", scope{built: true, needs: swarm.CapOutput},
			"when the plugin dies while output is followed, the worker keeps running",
			func(k *kit) { k.cutOffOutput(k.plugin.Crash).survives() }),
		newCase("crash-in-spawn", scope{built: true, needs: swarm.CapFind},
			"when the plugin dies during Spawn, Find finds the worker if it exists or still appears, and it can be killed",
			func(k *kit) {
				// At any moment: a Spawn takes some milliseconds.
				for i := range 10 {
					k.crashInSpawn(time.Duration(i) * time.Millisecond)
				}
			}),
		newCase("crash-in-watch", scope{built: true, needs: swarm.CapWatch},
			"when the plugin dies during Watch, the worker keeps running",
			func(k *kit) {
				w := k.ready(script.Sleep)
				called := make(chan struct{}, 1)
				err := k.crashIn(func(ctx context.Context) error {
					return k.Backend.(swarm.Watcher).Watch(ctx, w.handle, func(swarm.Status) error {
						called <- struct{}{}
						return nil
					})
				}, func() { <-called })
				k.WantErr("Watch", err, client.ErrPluginGone)
				w.survives()
			}),
		newCase("crash-in-input", scope{built: true, needs: swarm.CapInput, also: swarm.CapStdin},
			"when the plugin dies during Input, the input arrives whole or not at all",
			func(k *kit) {
				const senders, lines = 8, 200
				w := k.echo()
				for i := range senders {
					in := swarm.Input{Data: []byte(numbered(i, lines)), Enter: true}
					w.reopen(k.crashIn(func(ctx context.Context) error {
						_, err := k.Backend.(swarm.Inputter).Input(ctx, w.handle, in)
						return err
					}, func() { k.await(time.Duration(i) * time.Millisecond / 2) }))
				}
				// Earlier inputs arrive before this one, whole or not at all.
				w.send(swarm.Input{Data: []byte(numbered(senders, lines)), Enter: true})
				for w.readInput(lines) != senders {
				}
			}),
		newCase("crash-in-signal", scope{built: true, needs: swarm.CapSignal},
			"when the plugin dies during Signal, the worker can still be signalled",
			func(k *kit) {
				w := k.ready(script.Trap)
				err := k.crashIn(func(ctx context.Context) error {
					return k.Backend.(swarm.Signaller).Signal(ctx, w.handle, swarm.SignalOptions{Signal: "SIGWINCH"})
				}, func() {})
				w.reopen(err)
				k.Must("Signal", w.signal("SIGUSR1", swarm.KillMain))
				k.wantExit(w.ended(), swarm.Exit{Code: 7, Cause: swarm.CauseExited})
			}),
		newCase("crash-in-screen", scope{built: true, needs: swarm.CapScreen},
			"when the plugin dies during Screen, the screen is unchanged",
			func(k *kit) {
				w := k.page()
				w.reopen(k.crashIn(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Screener).Screen(ctx, w.handle, swarm.ScreenOptions{})
					return err
				}, func() {}))
				w.wantScreen(3, pageLines(3), false)
			}),
		newCase("crash-in-complete", scope{built: true, needs: swarm.CapComplete},
			"when the plugin dies during Complete, the completion is recorded and carried out, or not recorded at all",
			func(k *kit) {
				for i := range 5 {
					k.crashInComplete(time.Duration(i) * time.Millisecond)
				}
			}),
		newCase("crash-after-complete", scope{built: true, needs: swarm.CapComplete},
			"a completion is carried out without the plugin",
			func(k *kit) {
				w := k.ready(script.Stubborn)
				w.completed("done", swarm.KillOptions{Grace: shortGrace, Force: true})
				k.plugin.Crash()
				w.reopen(nil)
				k.wantExit(w.ended(), swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseCompleted})
			}),
		newCase("crash-and-restart", scope{built: true, needs: swarm.CapRestart},
			"a worker is restarted without the plugin",
			func(k *kit) {
				w := k.newSpec(script.Fail)
				w.spec.Restart = swarm.Restart{When: swarm.RestartAlways, MinDelay: shortGrace, Budget: 1, Window: longGrace}
				w.start()
				w.wantLine("ready")
				k.plugin.Crash()
				w.reopen(nil)
				w.wantLine("ready")
				k.wantExit(w.ended(), swarm.Exit{Code: 3, Cause: swarm.CauseCrashLoop})
			}),
		newCase("crash-in-list", scope{built: true, needs: swarm.CapList},
			"when the plugin dies during List, the workers keep running",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					return k.Backend.(swarm.Lister).List(ctx, func(swarm.Listed) error { return nil })
				})
				w.survives()
			}),
		newCase("crash-in-stats", scope{built: true, needs: swarm.CapStats},
			"when the plugin dies during Stats, a new plugin process can measure, and the worker keeps running",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Measurer).Stats(ctx, []swarm.Handle{w.handle})
					return err
				})
				w.stats()
				w.survives()
			}),
		newCase("crash-in-status", scope{built: true},
			"when the plugin dies during Status, a new plugin process can answer, and the worker keeps running",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Status(ctx, w.handle)
					return err
				})
				w.survives()
			}),
		newCase("crash-in-find", scope{built: true, needs: swarm.CapFind},
			"when the plugin dies during Find, a new plugin process finds the worker",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Finder).Find(ctx, w.lookup())
					return err
				})
				_, err := w.find(k.subject)
				k.Check("Find", err)
				w.survives()
			}),
		newCase("crash-in-sweep", scope{built: true, needs: swarm.CapSweep},
			"when the plugin dies during Sweep, the Sweep can be repeated, and running workers are not affected",
			func(k *kit) {
				ended, w := k.ready(script.Sleep), k.ready(script.Sleep)
				ended.kill(gentle())
				dropped, kept := []swarm.Handle{ended.handle}, []swarm.Handle{w.handle}
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Sweeper).Sweep(ctx, dropped, kept)
					return err
				})
				k.sweep(dropped, kept)
				w.survives()
			}),
		newCase("crash-in-attach", scope{built: true, needs: swarm.CapAttach},
			"when the plugin dies during Attach, the worker keeps running",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Attacher).Attach(ctx, w.handle, swarm.AttachOptions{})
					return err
				})
				w.survives()
			}),
		newCase("crash-in-exec", scope{built: true, needs: swarm.CapExec},
			"when the plugin dies during Exec, the worker keeps running",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Execer).Exec(ctx, w.handle, swarm.ExecOptions{Command: []string{"true"}})
					return err
				})
				w.survives()
			}),
		newCase("crash-in-copy", scope{built: true, needs: swarm.CapCopy},
			"when the plugin dies during Copy, the worker keeps running",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Copier).Copy(ctx, w.handle, swarm.CopyOptions{Path: "."})
					return err
				})
				w.survives()
			}),
		newCase("crash-in-forward", scope{built: true, needs: swarm.CapForward},
			"when the plugin dies during Forward, the worker keeps running",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.interrupted(func(ctx context.Context) error {
					_, err := k.Backend.(swarm.Forwarder).Forward(ctx, w.handle, swarm.ForwardOptions{Port: 80})
					return err
				})
				w.survives()
			}),
		newCase("host-dies-in-kill", scope{built: true},
			"a plugin exits during Kill when its host is gone, and another host can repeat the Kill",
			func(k *kit) {
				left := k.plugin
				w := k.cutOffKill(left.Leave)
				k.until("the plugin has left", left.Exited)
				w.survives()
			}),
		newCase("host-dies-in-output", scope{built: true, needs: swarm.CapOutput},
			"a plugin exits while output is followed when its host is gone, and the worker keeps running",
			func(k *kit) {
				left := k.plugin
				w := k.cutOffOutput(left.Leave)
				k.until("the plugin has left", left.Exited)
				w.survives()
			}),
	}
}

// interrupted kills the plugin during a short call and continues with a new process of it.
func (w *worker) interrupted(call func(context.Context) error) {
	w.Helper()
	w.reopen(w.crashIn(call, func() {}))
}

func (k *kit) crashInSpawn(after time.Duration) {
	k.Helper()
	k.subject = k.open(k.T)
	w := k.newSpec(script.Sleep)
	err := k.crashIn(func(ctx context.Context) error {
		_, err := k.Spawn(ctx, w.spec)
		return err
	}, func() { k.await(after) })
	if err != nil && !errors.Is(err, client.ErrPluginGone) {
		k.Broken("Spawn: %v", err)
	}
	k.subject = k.open(k.T)
	w.findable(err)
}

// findable checks that a worker whose Spawn was cut off can be found and ended, if it exists.
func (w *worker) findable(err error) {
	w.Helper()
	h, ferr := w.find(w.subject)
	if errors.Is(ferr, swarm.ErrNotFound) && err != nil && w.silent() {
		return
	}
	if ferr != nil {
		w.Broken("Spawn returned %v, then Find %v, and the worker runs", err, ferr)
		w.until("Find finds the worker that runs", func() bool {
			h, ferr = w.find(w.subject)
			return ferr == nil
		})
	}
	w.started(h)
	w.kill(gentle())
}

// silent reports whether a worker that should not exist writes nothing. Without a handle,
// only the lines of a local worker can be read.
func (w *worker) silent() bool { return w.readSoon() == "" }

// readSoon returns the next line of the worker, if one comes soon.
func (w *worker) readSoon() string {
	if w.fifo == nil {
		return ""
	}
	line, _ := w.fifo.Line(shortGrace)
	return line
}

// crashIn kills the plugin once a call is in progress and returns the call's error.
func (k *kit) crashIn(call func(context.Context) error, underWay func()) error {
	k.Helper()
	return k.cutOff(call, underWay, k.plugin.Crash)
}

// cutOff calls end, which ends the plugin, once a call is in progress. It returns the call's
// error.
func (k *kit) cutOff(call func(context.Context) error, underWay, end func()) error {
	k.Helper()
	ctx, cancel := k.limited()
	defer cancel()
	var err error
	var calling sync.WaitGroup
	calling.Go(func() { err = call(ctx) })
	underWay()
	end()
	calling.Wait()
	return err
}

// cutOffKill ends the plugin during the grace of a Kill.
func (k *kit) cutOffKill(end func()) *worker {
	k.Helper()
	w := k.ready(script.Deaf)
	err := k.cutOff(func(ctx context.Context) error {
		_, err := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace})
		return err
	}, func() { w.readLine() }, end)
	k.WantErr("Kill", err, client.ErrPluginGone)
	return w
}

// cutOffOutput ends the plugin while output is followed.
func (k *kit) cutOffOutput(end func()) *worker {
	k.Helper()
	w := k.ready(script.Sleep)
	err := k.cutOff(func(ctx context.Context) error {
		return k.Backend.(swarm.Outputter).Output(ctx, w.handle, swarm.OutputOptions{Follow: true},
			func(swarm.Output) error { return nil })
	}, func() { k.await(shortGrace) }, end)
	k.WantErr("Output", err, client.ErrPluginGone)
	return w
}

// survives checks, with a new process of the plugin, that the worker runs and can be killed.
func (w *worker) survives() {
	w.Helper()
	w.subject = w.open(w.T)
	w.started(w.handle)
	w.wantState(swarm.StateRunning, "the worker")
	if r := w.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true, Grace: patience}); r.Status.State != swarm.StateExited {
		w.Broken("after another Kill the worker is %s", r.Status.State)
	}
}

// await lets time pass where no event marks the beginning of a call.
func (k *kit) await(d time.Duration) { _ = sleep.For(k.Ctx, d) }

// reopen continues with a new process of the plugin. err is of the call that the death of the
// previous process may have cut off.
func (w *worker) reopen(err error) {
	w.Helper()
	if err != nil && !errors.Is(err, client.ErrPluginGone) {
		w.Broken("the interrupted call: %v", err)
	}
	w.subject = w.open(w.T)
	w.started(w.handle)
}

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
	// A Complete in progress may have been recorded before the kill.
	cause := swarm.CauseKilled
	if st.Completion != nil {
		cause = swarm.CauseCompleted
	}
	k.wantExit(st, swarm.Exit{Code: 7, Cause: cause})
	if recorded && st.Completion == nil {
		k.Broken("the completion was lost")
	}
}
