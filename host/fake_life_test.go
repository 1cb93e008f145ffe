package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *fakeBackend) Complete(_ context.Context, h swarm.Handle, summary string, o swarm.KillOptions) error {
	b.order.Lock()
	defer b.order.Unlock()
	b.completes = append(b.completes, o)
	w, err := b.read(h)
	if err != nil {
		return err
	}
	if w.State != swarm.StateRunning || w.Completion != nil {
		return swarm.ErrTooLate
	}
	w.Completion = &swarm.Completion{Summary: summary, Time: time.Unix(1700000000, 0)}
	return b.write(w)
}

// WatchBatch looks often: its workers are files, which other processes change.
func (b *fakeBackend) WatchBatch(ctx context.Context, hs []swarm.Handle, each func(int, swarm.Status, error)) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	last := make([]*swarm.Status, len(hs))
	for open := len(hs); open > 0; {
		open = 0
		for i, h := range hs {
			if last[i] != nil && last[i].State != swarm.StateRunning {
				continue
			}
			w, err := b.read(h)
			if err != nil {
				return err
			}
			s := w.status()
			if last[i] == nil || !reflect.DeepEqual(*last[i], s) {
				last[i] = &s
				each(i, s, nil)
			}
			if s.State == swarm.StateRunning {
				open++
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// linesOf returns what the events tell, in one line each; with worker, of that
// one only.
func (r *rig) linesOf(t *testing.T, worker string) []string {
	t.Helper()
	reg, err := registry.OpenReadOnly(t.Context(), r.opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reg.Close() }()
	events, err := reg.Events(t.Context(), registry.EventQuery{Worker: worker})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, e := range events {
		lines = append(lines, e.String())
	}
	return lines
}

// leftovers are what a spawn must not leave: records, run directories,
// workspaces, workers.
func (r *rig) leftovers(t *testing.T) []string {
	t.Helper()
	var found []string
	names, err := store.Names(t.Context(), r.opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		found = append(found, "record "+n)
	}
	for _, dir := range []string{r.dir.RunDir(""), r.tree.dir} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			t.Fatal(err)
		}
		for _, e := range entries {
			found = append(found, filepath.Join(filepath.Base(dir), e.Name()))
		}
	}
	for _, name := range append(r.one.alive(t), r.two.alive(t)...) {
		found = append(found, "worker "+name)
	}
	return found
}
