package backendtest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func crashCases() []testCase {
	return []testCase{
		{
			name: "crash-in-kill", built: true,
			rule: "when the plugin dies during Kill, a new plugin process can repeat the Kill",
			run:  func(k *kit) { k.cutOffKill(k.plugin.Crash).survives() },
		},
		{
			name: "crash-in-output", built: true, needs: swarm.CapOutput,
			rule: "when the plugin dies while output is followed, the worker keeps running",
			run:  func(k *kit) { k.cutOffOutput(k.plugin.Crash).survives() },
		},
		{
			name: "crash-in-spawn", built: true, needs: swarm.CapFind,
			rule: "when the plugin dies during Spawn, Find finds the worker if it exists or still appears, and it can be killed",
			run: func(k *kit) {
				// At any moment: a Spawn takes some milliseconds.
				for i := range 10 {
					k.crashInSpawn(time.Duration(i) * time.Millisecond)
				}
			},
		},
	}
}

// crashInSpawn kills the plugin some time after the beginning of a Spawn.
func (k *kit) crashInSpawn(after time.Duration) {
	k.Helper()
	k.subject = k.open(k.T)
	w := k.newSpec(script.Sleep)
	err := k.crashIn(func(ctx context.Context) error {
		_, err := k.Spawn(ctx, w.spec)
		return err
	}, func() { k.await(after) })
	if err != nil && !errors.Is(err, plugin.ErrPluginGone) {
		k.Broken("Spawn: %v", err)
	}
	k.subject = k.open(k.T)
	w.findable(err)
}

// findable checks that a worker whose Spawn was cut off can be found and ended, if
// there is one.
func (w *worker) findable(err error) {
	k := w.k
	k.Helper()
	h, ferr := w.find(k.subject)
	if errors.Is(ferr, swarm.ErrNotFound) && err != nil && w.silent() {
		return
	}
	if ferr != nil {
		k.Broken("Spawn returned %v, then Find %v, and the worker runs", err, ferr)
		k.until("Find finds the worker that runs", func() bool {
			h, ferr = w.find(k.subject)
			return ferr == nil
		})
	}
	w.started(h)
	w.kill(gentle())
}

// silent checks that a worker that should not exist writes nothing. The output of a worker
// that is not local can't be read without a handle.
func (w *worker) silent() bool { return w.readSoon() == "" }

// readSoon returns the next line of the worker, if one comes soon.
func (w *worker) readSoon() string {
	if w.fifo == nil {
		return ""
	}
	line, _ := w.fifo.Line(shortGrace)
	return line
}

// crashIn kills the plugin once a call is under way, and returns its error.
func (k *kit) crashIn(call func(context.Context) error, underWay func()) error {
	k.Helper()
	return k.cutOff(call, underWay, k.plugin.Crash)
}

// cutOff ends the plugin in some way once a call is under way, and returns the
// error of the call.
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

// cutOffKill ends the plugin in a Kill that waits out its grace.
func (k *kit) cutOffKill(end func()) *worker {
	k.Helper()
	w := k.ready(script.Deaf)
	err := k.cutOff(func(ctx context.Context) error {
		_, err := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace})
		return err
	}, func() { w.readLine() }, end)
	k.WantErr("Kill", err, plugin.ErrPluginGone)
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
	k.WantErr("Output", err, plugin.ErrPluginGone)
	return w
}

// survives checks a worker whose plugin died, with another process of it.
func (w *worker) survives() {
	k := w.k
	k.Helper()
	k.subject = k.open(k.T)
	w.started(w.handle)
	w.wantState(swarm.StateRunning, "the worker")
	if r := w.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true, Grace: patience}); r.Status.State != swarm.StateExited {
		k.Broken("after another Kill the worker is %s", r.Status.State)
	}
}

// await lets time pass where no event shows that a call has begun.
func (k *kit) await(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}
