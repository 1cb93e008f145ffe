package fake

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Output implements [swarm.Outputter].
func (b *Backend) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	w, err := b.worker(h)
	if err != nil {
		return err
	}
	next := 0
	if o.Tail != nil {
		all, _, _ := w.since(0)
		next = max(0, len(all)-*o.Tail)
	}
	for {
		pieces, ended, changed := w.since(next)
		next += len(pieces)
		for _, p := range pieces {
			if p.Time.Before(o.Since) || o.Stream != "" && p.Stream != o.Stream {
				continue
			}
			if err := each(p); err != nil {
				return err
			}
		}
		if ended || !o.Follow {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// since returns the output from a place on, whether there can be no more, and a
// channel that is closed when there is.
func (w *worker) since(n int) (pieces []swarm.Output, ended bool, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.output[n:len(w.output):len(w.output)], w.exit != nil, w.changed
}
