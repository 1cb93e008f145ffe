package nomad

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Watch reports every change of the worker's state. It waits for an agent that is being
// restarted.
func (b *Backend) Watch(ctx context.Context, h swarm.Handle, each func(swarm.Status) error) error {
	r, err := decode(h)
	if err != nil {
		return err
	}
	var told *swarm.Status
	return b.follow(ctx, r, func(st swarm.Status) (bool, error) {
		if told == nil || told.State != st.State {
			told = &st
			if err := each(st); err != nil {
				return true, err
			}
		}
		return isOver(st), nil
	})
}

func isOver(st swarm.Status) bool {
	return st.State == swarm.StateExited || st.State == swarm.StateLost
}

// follow calls each with the worker's status now and after every change in its place, until
// each returns false.
func (b *Backend) follow(ctx context.Context, r ref, each func(swarm.Status) (enough bool, err error)) error {
	s, err := b.look(ctx, r.place, r.Job, 0)
	if err != nil {
		return err
	}
	if enough, err := each(b.statusIn(ctx, s, r)); enough || err != nil {
		return err
	}
	s.asked = time.Now()
	f, leave := b.feeds.join(ctx, r.place)
	defer leave()
	for {
		if s, err = f.after(ctx, s); err != nil {
			return err
		}
		if enough, err := each(b.statusIn(ctx, s, r)); enough || err != nil {
			return err
		}
	}
}

// awaitEnd waits for the end of a worker, for so long at most, and returns its
// status then.
func (b *Backend) awaitEnd(ctx context.Context, r ref, limit time.Duration) (swarm.Status, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last swarm.Status
	err := b.follow(limited, r, func(st swarm.Status) (bool, error) {
		last = st
		return isOver(st), nil
	})
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return b.status(ctx, r)
	}
	return last, err
}
