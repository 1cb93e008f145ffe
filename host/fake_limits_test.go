package host

import (
	"context"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *fakeBackend) SetLimits(_ context.Context, h swarm.Handle, l swarm.Limits) error {
	return b.update(h, func(w *fakeWorker) { w.Spec.Limits = l })
}

func (b *fakeBackend) SetPaused(_ context.Context, h swarm.Handle, paused bool) error {
	return b.update(h, func(w *fakeWorker) { w.Paused = paused })
}

func (b *fakeBackend) Progress(context.Context, string, func(string) error) error {
	return swarm.ErrUnsupported
}

func (b *fakeBackend) update(h swarm.Handle, how func(*fakeWorker)) error {
	b.order.Lock()
	defer b.order.Unlock()
	w, err := b.living(h)
	if err != nil {
		return err
	}
	how(&w)
	return b.write(w)
}

// worker returns a worker of the backend by its name.
func (b *fakeBackend) worker(t *testing.T, name string) fakeWorker {
	t.Helper()
	for _, w := range b.all(t) {
		if w.Spec.Name == name {
			return w
		}
	}
	t.Fatalf("no fake worker %s", name)
	return fakeWorker{}
}
