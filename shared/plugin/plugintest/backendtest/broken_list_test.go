package backendtest

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// listHook is called in the place of List. right is that of the right backend.
type listHook func(each func(swarm.Listed) error, right func(func(swarm.Listed) error) error) error

func (b *broken) List(ctx context.Context, each func(swarm.Listed) error) error {
	right := func(each func(swarm.Listed) error) error {
		return b.Backend.List(ctx, func(l swarm.Listed) error {
			if b.hooks.handle != nil {
				l.Handle = b.hooks.handle(l.Handle)
			}
			return each(l)
		})
	}
	if b.hooks.list != nil {
		return b.hooks.list(each, right)
	}
	return right(each)
}

// onListed changes what is reported of each worker.
func onListed(f func(*swarm.Listed)) hooks {
	return hooks{list: func(each func(swarm.Listed) error, right func(func(swarm.Listed) error) error) error {
		return right(func(l swarm.Listed) error {
			f(&l)
			return each(l)
		})
	}}
}

// listWays are the ways to break the rules of listing the workers.
func listWays() map[string]hooks {
	return map[string]hooks{
		"list-running": onListed(func(l *swarm.Listed) {
			if l.Status.State == swarm.StateRunning {
				l.Spec.Command = nil
			}
		}),
		"list-ended": onListed(func(l *swarm.Listed) {
			if l.Status.State == swarm.StateExited {
				l.Status = swarm.Status{State: swarm.StateRunning}
			}
		}),
		"list-stops": {list: func(each func(swarm.Listed) error, right func(func(swarm.Listed) error) error) error {
			var failed error
			_ = right(func(l swarm.Listed) error {
				if err := each(l); err != nil {
					failed = err
				}
				return nil
			})
			return failed
		}},
	}
}

func (b *broken) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	h, err := b.Backend.Find(ctx, l)
	if b.hooks.find != nil {
		return b.hooks.find(b, h, err)
	}
	return h, err
}
