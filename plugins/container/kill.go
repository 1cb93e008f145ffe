package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/plugins/container/members"
	"github.com/swarmhost/swarm/shared/swarm"
)

// endLimit is how long an engine may take to report the end of a container after SIGKILL.
const endLimit = 30 * time.Second

// Kill ends the worker. The end of a container's init is the end of all its processes: the
// kernel ends the others of its namespace.
func (b *Backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	r, e, err := b.open(ctx, h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	first, err := swarm.ParseSignal(cmp.Or(o.Signal, "SIGTERM"))
	if err != nil {
		return swarm.KillResult{}, err
	}
	s, err := e.inspect(ctx, r)
	switch {
	case errors.Is(err, swarm.ErrNotFound):
		st, err := e.status(ctx, r)
		return swarm.KillResult{Status: st, AlreadyEnded: true}, err
	case err != nil:
		return swarm.KillResult{}, err
	case s.created:
		return e.discard(ctx, r)
	case !s.running:
		st, err := e.status(ctx, r)
		return swarm.KillResult{Status: st, AlreadyEnded: true}, err
	}
	o.Grace = max(o.Grace, 0)
	withdraw, err := intend(r.Dir, o.Grace+endLimit)
	if err != nil {
		b.log.Warn("no note of the kill", "worker", r.Worker, "error", err)
	}
	k := &kill{e: e, r: r, was: s, o: o, signal: first, withdraw: withdraw}
	return k.run(ctx)
}

func (e *engine) discard(ctx context.Context, r ref) (swarm.KillResult, error) {
	if err := e.remove(ctx, r.Container); err != nil {
		return swarm.KillResult{}, err
	}
	if err := changeNote(r.Dir, func(n *note) { n.Undone = time.Now() }); err != nil {
		return swarm.KillResult{}, err
	}
	st, err := e.status(ctx, r)
	return swarm.KillResult{Status: st}, err
}

type kill struct {
	e        *engine
	r        ref
	was      state
	o        swarm.KillOptions
	signal   string
	withdraw func()
}

func (k *kill) run(ctx context.Context) (swarm.KillResult, error) {
	if k.was.paused {
		// A frozen process takes no signal, and SIGKILL only on newer kernels.
		_, _ = k.e.ContainerUnpause(ctx, k.r.Container, client.ContainerUnpauseOptions{})
	}
	err := k.e.signal(ctx, k.r, k.was, k.signal, k.o.Mode)
	switch {
	case errors.Is(err, swarm.ErrNotFound): // it has just ended by itself
		k.withdraw()
		st, err := k.e.awaitEnd(ctx, k.r, endLimit)
		return swarm.KillResult{Status: st, AlreadyEnded: isFinal(st)}, err
	case err != nil:
		k.withdraw()
		return swarm.KillResult{}, err
	case k.o.Detach:
		return k.detach(ctx)
	}
	limit := k.o.Grace
	if k.signal == "SIGKILL" {
		limit = endLimit
	}
	st, err := k.e.awaitEnd(ctx, k.r, limit)
	if err != nil {
		return swarm.KillResult{}, err
	}
	res := swarm.KillResult{Status: st, Signal: k.signal}
	if isFinal(st) {
		return res, nil
	}
	if !k.o.Force {
		k.withdraw()
		return k.survives(res)
	}
	res.Forced = k.signal != "SIGKILL"
	if err := k.e.signal(ctx, k.r, k.was, "SIGKILL", swarm.KillMain); err != nil && !errors.Is(err, swarm.ErrNotFound) {
		return swarm.KillResult{}, err
	}
	if res.Status, err = k.e.awaitEnd(ctx, k.r, endLimit); err != nil {
		return swarm.KillResult{}, err
	}
	if !isFinal(res.Status) {
		return k.survives(res)
	}
	return res, nil
}

// detachPause is how long a detached kill waits for the engine's answer: it comes at once
// if the engine refuses, else at the end of the worker.
const detachPause = 100 * time.Millisecond

// graceSeconds returns a grace as engines count it, in whole seconds.
func graceSeconds(d time.Duration) int { return int((max(d, 0) + time.Second - 1) / time.Second) }

// detach leaves the rest of a kill to the engine, which continues when its caller is gone.
func (k *kill) detach(ctx context.Context) (swarm.KillResult, error) {
	res := swarm.KillResult{Signal: k.signal}
	if k.o.Force {
		grace := graceSeconds(k.o.Grace)
		asked := make(chan error, 1)
		go func() {
			_, err := k.e.ContainerStop(context.WithoutCancel(ctx), k.r.Container, client.ContainerStopOptions{Timeout: &grace})
			asked <- err
		}()
		timer := time.NewTimer(detachPause)
		defer timer.Stop()
		select {
		case err := <-asked:
			if err != nil {
				return swarm.KillResult{}, k.e.explain(ctx, "stop the worker", err)
			}
		case <-timer.C:
		}
	}
	var err error
	res.Status, err = k.e.status(ctx, k.r)
	return res, err
}

// survives names what is alive.
func (k *kill) survives(res swarm.KillResult) (swarm.KillResult, error) {
	pids, _ := members.Of(k.was.pid, k.r.Container) // none if they can't be seen
	for _, pid := range pids {
		if name := members.NameOf(pid); pid != k.was.pid && name != "" {
			res.Survivors = append(res.Survivors, swarm.Process{PID: pid, Name: name})
		}
	}
	if len(res.Survivors) == 0 {
		res.Survivors = []swarm.Process{{PID: k.was.pid, Name: k.r.Name}}
	}
	return res, fmt.Errorf("%w: %d processes in the container %s", swarm.ErrSurvivors, len(res.Survivors), k.r.Name)
}
