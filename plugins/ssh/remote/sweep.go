package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Sweep removes what workers on terminals shared, and what workers have left whose records are
// gone, see [Handle.Drop].
func (b *Backend) Sweep(ctx context.Context, ended, running []swarm.Handle) (warnings []string, err error) {
	var over, others []swarm.Handle
	var dropped []Handle
	for _, raw := range ended {
		h, err := b.handle(raw)
		if err != nil {
			continue
		}
		if h.Kind == KindTerminal {
			over = append(over, h.inner())
		}
		if h.Drop != "" {
			dropped = append(dropped, h)
		}
	}
	for _, raw := range running {
		if h, err := b.handle(raw); err == nil && h.Kind == KindTerminal {
			others = append(others, h.inner())
		}
	}
	if len(over) > 0 {
		warnings, err = b.opts.Terminal.Sweep(ctx, over, others)
	}
	for _, h := range dropped {
		err = errors.Join(err, b.drop(ctx, h))
	}
	return warnings, err
}

func (b *Backend) drop(ctx context.Context, h Handle) error {
	w, err := b.worker(h)
	if err != nil {
		return err
	}
	unlock, err := b.store.lock(ctx, w.ID)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := b.store.read(w.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: the record of worker %s can't be read: %w", swarm.ErrUnavailable, w.ID, err)
	case r.Owner != h.Drop:
		return nil // it was adopted from another state directory, which has it still
	}
	st, err := b.backend(h.Kind).Status(ctx, h.inner())
	if err != nil || st.State == swarm.StateRunning || len(st.Survivors) > 0 || len(st.PerhapsAlive) > 0 {
		return err
	}
	return os.RemoveAll(b.store.runDir(w.ID))
}
