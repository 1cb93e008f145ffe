package set

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

const attempts = 5

var errStarting = errors.New("another call is starting it")

// act takes the steps that make a worker run, based on its observed state. If another call
// was faster, it reads the state again.
func (u *upRun) act(ctx context.Context, out *Outcome, want *Worker) {
	w, there := u.there[out.Name]
	for try := 1; ; try++ {
		out.Worker, out.Differs = w, nil
		if there {
			out.Action, out.Err = u.compare(ctx, out, want)
		} else {
			out.Action, out.Err = u.spawn(ctx, out, want)
		}
		if !overtaken(out.Err) || try == attempts || ctx.Err() != nil {
			break
		}
		var err error
		w, err = u.Settled(ctx, out.Name)
		there = err == nil
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			out.Err = &startError{name: out.Name, err: err}
			break
		}
	}
	if out.Err != nil {
		out.Action = Failed
		if ctx.Err() != nil {
			out.Err = context.Cause(ctx)
		}
	}
}

func overtaken(err error) bool {
	return errors.Is(err, errStarting) || errors.Is(err, worker.ErrExists) || errors.Is(err, store.ErrNotFound) || errors.Is(err, worker.ErrOvertaken)
}

func (u *upRun) spawn(ctx context.Context, out *Outcome, want *Worker) (Action, error) {
	if u.req.DryRun {
		return Started, nil
	}
	req := want.Spawn
	req.Progress = u.progress(out.Name)
	w, err := u.Spawn(ctx, req)
	if err != nil {
		return Failed, &startError{name: out.Name, err: err}
	}
	out.Worker = w
	return Started, nil
}

func (u *upRun) compare(ctx context.Context, out *Outcome, want *Worker) (Action, error) {
	w := out.Worker
	if err := u.foreign(w); err != nil {
		return Failed, err
	}
	switch {
	case w.Gone():
		return u.respawn(ctx, out, want, Respawned)
	case w.Status == worker.StatusLost && len(w.Survivors) == 0:
		return Failed, worker.MayRun(w, "cannot start")
	case w.Status == worker.StatusLost:
		return Failed, fmt.Errorf("cannot start '%s': its shim died, but %d of its processes live; 'swarm kill %s' ends them", w.Name, len(w.Survivors), w.Name)
	case w.Status == worker.StatusUnknown:
		return Failed, fmt.Errorf("cannot get the status of '%s': %s", w.Name, w.Reason)
	case w.Status == worker.StatusStarting && !u.req.DryRun:
		return Failed, &startError{name: w.Name, err: errStarting}
	}
	out.Differs = different(w, want.Spawn)
	switch {
	case len(out.Differs) == 0:
		return Unchanged, nil
	case !u.req.Recreate:
		return Differs, nil
	case w.ID == u.ID():
		return Failed, fmt.Errorf("cannot recreate '%s': this command runs in it", w.Name)
	default:
		return u.respawn(ctx, out, want, Recreated)
	}
}

// respawn starts a worker again with its declared settings. The id names the observed
// incarnation: another call may have started a new one meanwhile.
func (u *upRun) respawn(ctx context.Context, out *Outcome, want *Worker, action Action) (Action, error) {
	if ws := out.Worker.Workspace; ws != nil && want.Spawn.Workspace != nil && otherWorkspace(out.Worker, want.Spawn) {
		// Its place or its branch would be taken by the old one, which may hold work.
		return Failed, fmt.Errorf(
			"cannot start '%s': it has another workspace, %s; 'swarm down --rm-worktree %s' removes it", out.Name, ws.Path, out.Name)
	}
	if u.req.DryRun {
		return action, nil
	}
	w, err := u.Respawn(ctx, out.Worker.ID, spawn.RespawnRequest{As: &want.Spawn, Warn: u.warn, Progress: u.progress(out.Name)})
	if err != nil {
		return Failed, &startError{name: out.Name, err: err}
	}
	out.Worker = w
	return action, nil
}

// progress returns what reports the progress of one worker's start.
func (u *upRun) progress(name string) func(text string) {
	if u.req.Progress == nil {
		return nil
	}
	return func(text string) { u.report(func() { u.req.Progress(name, text) }) }
}

func (u *upRun) warn(w worker.Warning) {
	if u.req.Warn != nil {
		u.report(func() { u.req.Warn(w) })
	}
}

// leastAwait is the shortest wait for the readiness of a worker whose time has run out already.
const leastAwait = 5 * time.Second

// await waits until a worker is ready. It waits for a worker that ran before only if
// another one needs it, and only for the rest of its time.
func (u *upRun) await(ctx context.Context, out *Outcome, ready display.ReadyRequest) {
	if ready.Timeout == 0 {
		ready.Timeout = display.DefaultReadyTimeout
	}
	if out.Action == Unchanged || out.Action == Differs {
		if !u.needed[out.Name] || ctx.Err() != nil {
			return
		}
		left := ready.Timeout - time.Since(out.Worker.Started)
		ready.Timeout = max(left, min(leastAwait, ready.Timeout))
	}
	if u.req.Waiting != nil {
		u.report(func() { u.req.Waiting(out.Name, time.Now().Add(ready.Timeout)) })
	}
	err := u.AwaitReady(ctx, out.Name, ready)
	out.Awaited, out.Ready = true, err == nil
	if out.Err = err; ctx.Err() != nil {
		out.Err = context.Cause(ctx)
	}
	if u.req.Waited != nil {
		u.report(func() { u.req.Waited(*out) })
	}
}
