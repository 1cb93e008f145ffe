package host

import (
	"context"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/swarm"
)

// List tells of all workers in the directory, whichever host made them.
func (b *fakeBackend) List(_ context.Context, each func(swarm.Listed) error) error {
	if b.onList != nil {
		return b.onList(each)
	}
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".tmp" {
			continue // just being written
		}
		h := swarm.Handle{Version: 1, Data: []byte(e.Name())}
		w, err := b.read(h)
		if err != nil {
			return err
		}
		if err := each(w.listed(h)); err != nil {
			return err
		}
	}
	return nil
}

func (w fakeWorker) listed(h swarm.Handle) swarm.Listed {
	spec := w.Spec
	spec.Env, spec.Owner, spec.Local = nil, nil, nil
	return swarm.Listed{Spec: spec, Handle: h, Status: w.status()}
}
