package client

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Watch calls each with the status now and whenever it changes, until the worker
// no longer runs, see [swarm.Watcher].
func Watch(ctx context.Context, dir, id string, each func(swarm.Status) error) error {
	c, err := subscribe(ctx, dir, id)
	if err != nil {
		return err
	}
	if c != nil {
		defer c.close()
	}
	// The subscription is older than the first status, so no change is missed.
	for {
		s, err := Status(dir, id)
		if err != nil {
			return err
		}
		if err := each(s); err != nil || s.State != swarm.StateRunning {
			return err
		}
		if c == nil {
			break
		}
		if a, err := c.answer(ctx); err != nil || a.Kind != rundir.AnswerChanged {
			break // no other change follows
		}
	}
	s, err := wait(ctx, dir, id)
	if err != nil {
		return err
	}
	return each(s)
}

func subscribe(ctx context.Context, dir, id string) (*call, error) {
	c, err := openCall(ctx, dir, rundir.Request{Verb: rundir.VerbWatch, ID: id})
	if errors.Is(err, errNoAnswer) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	switch _, err := c.answer(ctx); {
	case err == nil:
		return c, nil
	case ctx.Err() != nil, errors.Is(err, swarm.ErrStaleHandle):
		c.close()
		return nil, err
	default:
		c.close()
		return nil, nil
	}
}
