package fake

import (
	"context"
	"fmt"

	"github.com/swarmhost/swarm/shared/swarm"
)

// SetLimits implements [swarm.Limiter].
func (b *Backend) SetLimits(_ context.Context, h swarm.Handle, l swarm.Limits) error {
	if err := l.Check(); err != nil {
		return err
	}
	return b.change(h, func(w *worker) { w.spec.Limits = l })
}

// SetPaused implements [swarm.Pauser].
func (b *Backend) SetPaused(_ context.Context, h swarm.Handle, paused bool) error {
	return b.change(h, func(w *worker) { w.paused = paused })
}

// change changes a worker that runs.
func (b *Backend) change(h swarm.Handle, how func(*worker)) error {
	w, err := b.worker(h)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.exit != nil {
		return fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	}
	how(w)
	return nil
}
