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
	if err := each(st); err != nil || isOver(st) {
		return err
	}
	if st, err = e.awaitOver(ctx, r); err != nil {
		return err
	}
	return each(st)
}

func isOver(st swarm.Status) bool {
	return st.State == swarm.StateExited || st.State == swarm.StateLost
}

// awaitOver waits for the end of a worker. It waits for an engine that is being restarted.
func (e *engine) awaitOver(ctx context.Context, r ref) (swarm.Status, error) {
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
		case serr == nil && isOver(st):
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
	st, err := e.awaitOver(limited, r)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return e.status(ctx, r)
	}
	return st, err
}
