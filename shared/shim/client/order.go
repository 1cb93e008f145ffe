package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// isShim reports whether the process that status.json names as the shim is alive and may be
// signalled. A shim of another user is an error.
func isShim(dir string, st rundir.Status) (bool, error) {
	if !keeps(dir, st) {
		return false, nil
	}
	err := st.Shim.Signal(0)
	if errors.Is(err, fs.ErrPermission) {
		return false, fmt.Errorf("%w: the worker's shim (pid %d) is another user's", swarm.ErrPermission, st.Shim.PID)
	}
	return err == nil, nil
}

// order leaves the kill, with all its options, in the run directory and wakes the shim. It
// reports whether the shim took it.
func (k *PendingKill) order(ctx context.Context, shim proc.Identity) (taken bool, err error) {
	path := filepath.Join(k.dir, rundir.OrderFile)
	whole, err := k.writeOrder()
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(whole) }()
	limit := time.Now().Add(orderLimit)
	for placed := false; ; {
		if !placed {
			// The order of another kill may exist.
			placed = os.Link(whole, path) == nil
		} else if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if shim.Signal(syscall.SIGCONT) != nil {
			limit = time.Time{} // it has ended
		}
		if ctx.Err() == nil && time.Now().Before(limit) && sleep.For(ctx, pause) == nil {
			continue
		}
		// The process that removes the file owns the order.
		taken := placed && errors.Is(os.Remove(path), fs.ErrNotExist)
		return taken, ctx.Err()
	}
}

func (k *PendingKill) writeOrder() (name string, err error) {
	f, err := os.CreateTemp(k.dir, rundir.OrderFile+".*")
	if err == nil {
		_, err = f.WriteString(k.request.String() + "\n")
		err = errors.Join(err, f.Close())
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", fmt.Errorf("%w: %w", swarm.ErrPermission, err)
	}
	return f.Name(), err
}

// carriedOut waits for the outcome of a kill that the shim took from the run directory; its
// only answer is its end.
func (k *PendingKill) carriedOut(ctx context.Context) (swarm.KillResult, error) {
	defer keepAwake(k.dir, k.id)()
	limit := k.deadline()
	if !k.opts.Force {
		// The worker may survive, and then there is no answer.
		limit = k.ordered.Add(max(k.opts.Grace, 0) + time.Second)
	}
	bounded, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	if err := proc.AwaitEnd(bounded, k.shim.Shim); err != nil && ctx.Err() != nil {
		return swarm.KillResult{}, ctx.Err()
	}
	return k.silent(ctx)
}

// silent handles a shim that has accepted the kill and does not report its result. Usually
// it has ended.
func (k *PendingKill) silent(ctx context.Context) (swarm.KillResult, error) {
	if ctx.Err() != nil {
		return swarm.KillResult{}, ctx.Err()
	}
	st, err := readFacts(k.dir, k.id)
	if err != nil || st.State == rundir.StateEnded {
		return k.withoutShim(ctx)
	}
	switch there, err := isShim(k.dir, st); {
	case err != nil:
		return swarm.KillResult{}, err
	case !there:
		return k.withoutShim(ctx)
	}
	k.shim = &st
	return k.byHand(ctx, st, false)
}

// byHand ends the processes of a worker whose shim is alive but does nothing. signal says
// that they have not received their first signal yet. The shim itself is not ended: if it
// ever continues, it records the end.
func (k *PendingKill) byHand(ctx context.Context, st rundir.Status, signal bool) (swarm.KillResult, error) {
	sig := proc.SignalNumber(k.opts.Signal)
	if sig == 0 {
		return swarm.KillResult{}, fmt.Errorf("%w: this system has no %s", swarm.ErrInvalidSpec, k.opts.Signal)
	}
	r := swarm.KillResult{Signal: k.opts.Signal}
	look := lookBelow(st, k.id)
	left := look()
	if signal {
		mainOnly := k.opts.Mode == swarm.KillMain && st.Main.Alive()
		sendAll(left, sig, mainOnly, st.Main)
		if err := awaitAll(ctx, left, k.opts.Grace); err != nil {
			return r, err
		}
		left = look()
	}
	if len(left) > 0 && k.opts.Force {
		r.Forced = true
		// A shim that continues after all must not start the worker again.
		_ = st.Shim.Signal(syscall.SIGTERM)
		var err error
		if left, err = force(ctx, left, look); err != nil {
			return r, err
		}
	}
	if len(left) > 0 {
		r.Status, _ = Status(k.dir, k.id)
		r.Survivors = withAlive(nil, left)
		return r, survived(r.Survivors)
	}
	bounded, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	if err := proc.AwaitEnd(bounded, st.Shim); err != nil {
		return r, fmt.Errorf("%w: its processes have ended, but its shim (pid %d) does not answer, and has not recorded the end",
			swarm.ErrUnavailable, st.Shim.PID)
	}
	res, err := k.withoutShim(ctx)
	res.Forced = res.Forced || r.Forced
	return res, err
}

// lookBelow returns a function that finds the processes of a worker whose shim is alive. Each
// call keeps the living processes that earlier calls have found.
func lookBelow(st rundir.Status, id string) func() []proc.Process {
	var found []proc.Process
	return func() []proc.Process {
		c := takeCensus()
		found = merge(found, append(c.below(st.Shim, id), c.orphans(st, id)...))
		return found
	}
}

// endWith ends a shim that has no status yet and does not listen, and the processes below
// it. They need not carry the worker's id: the shim is stopped while they are looked for, and
// ended after them, so that they stay below it.
func endWith(ctx context.Context, shim proc.Identity, id string) {
	defer func() { _ = shim.Signal(syscall.SIGKILL) }()
	if shim.Signal(syscall.SIGSTOP) != nil {
		return
	}
	look := lookBelow(rundir.Status{Shim: shim}, id)
	_, _ = force(ctx, look(), look)
}
