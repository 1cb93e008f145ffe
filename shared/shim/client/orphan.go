package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// rounds bounds the searches for processes that fork faster than they are ended.
const rounds = 100

// forceLimit is how long to wait for processes after a SIGKILL: the kernel needs time for
// large ones, and those that hang in it never end.
const forceLimit = 5 * time.Second

// killOrphans ends the processes that a lost worker left behind. No parent vouches for them
// any more, so each is looked up, proven and signalled by its identity. A process that may
// be the worker's without proof is reported as a survivor and not signalled.
func killOrphans(ctx context.Context, dir string, st rundir.Status, id string, o swarm.KillOptions) (swarm.KillResult, error) {
	sig := proc.SignalNumber(o.Signal)
	if sig == 0 {
		return swarm.KillResult{}, fmt.Errorf("%w: this system has no %s", swarm.ErrInvalidSpec, o.Signal)
	}
	var r swarm.KillResult
	var found []proc.Process
	group := cgroup.Open(st.Groups, id)
	if group.Freezes() {
		// A worker that was paused sees its signals only once it continues.
		_ = group.Freeze(false)
	}
	lost := func() (swarm.KillResult, error) {
		r.Status = new(Look).lost(st, id)
		r.Survivors = withAlive(r.Status.Survivors, found)
		if !bootedSince(st) {
			for _, p := range takeCensus().doubtful(st, found, others{dir: dir}) {
				r.Survivors = append(r.Survivors, named(p))
			}
		}
		r.Status.Survivors = r.Survivors
		if len(r.Survivors) > 0 {
			return r, survived(r.Survivors)
		}
		_ = group.Remove() // doctor finds one that stays
		return r, nil
	}
	if bootedSince(st) {
		r.AlreadyEnded = true
		return lost()
	}
	// A proven process stays proven: the proof may be a relative that ends first.
	look := func() []proc.Process {
		found = merge(found, takeCensus().orphans(st, id))
		return found
	}
	if len(look()) == 0 {
		r.AlreadyEnded = true
		return lost()
	}
	r.Signal = o.Signal
	mainOnly := o.Mode == swarm.KillMain && slices.ContainsFunc(found, func(p proc.Process) bool { return p.Identity == st.Main })
	sendAll(found, sig, mainOnly, st.Main)
	if err := awaitAll(ctx, found, o.Grace); err != nil {
		return r, err
	}
	left := look()
	if len(left) == 0 || !o.Force {
		return lost()
	}
	r.Forced = true
	// All at once, where that is possible and only they are in the group.
	_ = group.Kill(func() bool {
		found := look()
		pids, err := group.Members()
		return err == nil && !slices.ContainsFunc(pids, func(pid int) bool {
			return !slices.ContainsFunc(found, func(p proc.Process) bool { return p.PID == pid })
		})
	})
	if _, err := force(ctx, left, look); err != nil {
		return r, err
	}
	return lost()
}

// force ends processes with SIGKILL, and those that they fork meanwhile, which look finds.
// It returns the survivors.
func force(ctx context.Context, left []proc.Process, look func() []proc.Process) ([]proc.Process, error) {
	for range rounds {
		// They are stopped first, so that none forks while its siblings are ended.
		for _, p := range left {
			send(p, syscall.SIGSTOP)
		}
		for _, p := range left {
			send(p, syscall.SIGKILL)
		}
		if err := awaitAll(ctx, left, forceLimit); err != nil {
			return left, err
		}
		again := look()
		if len(again) == 0 || same(left, again) {
			return again, nil
		}
		left = again
	}
	return left, nil
}

// sendAll signals processes, or with mainOnly the main process among them.
func sendAll(ps []proc.Process, sig syscall.Signal, mainOnly bool, main proc.Identity) {
	for _, p := range ps {
		if !mainOnly || p.Identity == main {
			send(p, sig)
		}
	}
}

// send signals a process if it is still the proven one. A stopped process sees a signal
// only once it continues.
func send(p proc.Process, sig syscall.Signal) {
	// A process that is gone needs no signal; one that may not be signalled is a survivor.
	if p.Signal(sig) == nil && p.State == 'T' && sig != syscall.SIGSTOP && sig != syscall.SIGKILL {
		_ = p.Signal(syscall.SIGCONT)
	}
}

// awaitAll returns when all processes have ended or the time has run out. It returns an error
// only if the context has ended.
func awaitAll(ctx context.Context, ps []proc.Process, limit time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, max(limit, 0))
	defer cancel()
	var wg sync.WaitGroup
	failed := make([]error, len(ps))
	for i, p := range ps {
		wg.Go(func() {
			err := proc.AwaitEnd(bounded, p.Identity)
			if err != nil && !errors.Is(err, bounded.Err()) {
				failed[i] = err
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(failed...)
}

func merge(known, fresh []proc.Process) []proc.Process {
	all := slices.Clone(fresh)
	for _, p := range known {
		is := func(q proc.Process) bool { return q.Identity == p.Identity }
		if !slices.ContainsFunc(all, is) && p.Alive() {
			all = append(all, p)
		}
	}
	return all
}

// withAlive adds to the survivors those of known that are alive.
func withAlive(survivors []swarm.Process, known []proc.Process) []swarm.Process {
	for _, p := range known {
		is := func(s swarm.Process) bool { return s.PID == p.PID }
		if !slices.ContainsFunc(survivors, is) && p.Alive() {
			survivors = append(survivors, named(p))
		}
	}
	return survivors
}

func same(a, b []proc.Process) bool {
	return slices.EqualFunc(a, b, func(a, b proc.Process) bool { return a.Identity == b.Identity })
}
