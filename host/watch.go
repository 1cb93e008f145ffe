package host

import (
	"context"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/host/registry"
)

// WatchRequest says whom to tell what. Functions that are nil are not called.
type WatchRequest struct {
	// Ready is called once, when nothing that happens from then on is missed.
	Ready func()
	// Event is called with every event that is written from then on, by whomever.
	Event func(Event) error
	// Warn is called with what can't be watched or recorded.
	Warn func(Warning)
}

// Watch records the ends of workers as they happen, removes what a retention time
// has ended and kills workers whose owner is gone and whose backend does not do
// it, until ctx ends or Event returns an error.
//
// Any number of watchers may run at the same time. One that is killed loses
// nothing: what it did not write the next one writes.
func (h *Host) Watch(ctx context.Context, req WatchRequest) error {
	if _, err := h.writing(ctx); err != nil { // it makes the first database
		return err
	}
	file, err := os.Stat(filepath.Join(h.opts.Dir, registry.File))
	if err != nil {
		return err
	}
	h.reopen() // so that what is open is not older than file
	reg, err := h.writing(ctx)
	if err != nil {
		return err
	}
	f, err := h.follow()
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.begin(ctx); err != nil {
		return err
	}
	w := newWatching(h, reg, req)
	w.file = file
	defer w.close()
	return w.run(ctx, f)
}
