package container

import (
	"context"
	"errors"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// outage is how long to wait for an engine that is being restarted.
	outage = 30 * time.Second
	// retryEvery is the pause before the next question after a failure.
	retryEvery = 250 * time.Millisecond
)

// Watch reports how the worker is now, and how it ended.
func (b *Backend) Watch(ctx context.Context, h swarm.Handle, each func(swarm.Status) error) error {
	r, e, err := b.open(ctx, h)
	if err != nil {
		return err
	}
	st, err := e.status(ctx, r)
	if err != nil {
		return err
	}
	if err := each(st); err != nil || isFinal(st) {
		return err
	}
	if st, err = e.awaitFinal(ctx, r); err != nil {
		return err
	}
	return each(st)
}

// isFinal reports whether a worker in this status will not run again.
func isFinal(st swarm.Status) bool {
	return st.State == swarm.StateExited || st.State == swarm.StateLost
}

// awaitFinal waits until the worker has ended. It also waits while the engine is being restarted.
func (e *engine) awaitFinal(ctx context.Context, r ref) (swarm.Status, error) {
	var failing time.Time
	for {
		wait := e.ContainerWait(ctx, r.Container, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
		var err error
		select {
		case <-wait.Result:
		case err = <-wait.Error:
		case <-ctx.Done():
			return swarm.Status{}, ctx.Err()
		}
		st, serr := e.status(ctx, r)
		switch {
		case serr == nil && isFinal(st):
			return st, nil
		case ctx.Err() != nil:
			return st, ctx.Err()
		case serr == nil && err == nil:
			failing = time.Time{}
		case serr != nil && !errors.Is(serr, swarm.ErrUnavailable):
			return st, serr
		case failing.IsZero():
			failing = time.Now()
		case serr != nil && time.Since(failing) > outage:
			return st, serr
		}
		if err := sleep.For(ctx, retryEvery); err != nil {
			return st, err
		}
	}
}

func (e *engine) awaitEnd(ctx context.Context, r ref, limit time.Duration) (swarm.Status, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	st, err := e.awaitFinal(limited, r)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return e.status(ctx, r)
	}
	return st, err
}
