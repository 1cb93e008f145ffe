package hooks

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/swarmhost/swarm/host/registry"
)

// ledger is the registry of a state directory. Methods may be called at the same time.
type ledger struct {
	dir string

	mu   sync.Mutex
	reg  *registry.Registry
	file fs.FileInfo
	// generation counts the databases: a rebuild puts another one into place.
	generation int
}

// use calls f with the registry that is in place, and with its generation.
func (l *ledger) use(ctx context.Context, f func(reg *registry.Registry, generation int) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, err := os.Stat(filepath.Join(l.dir, registry.File))
	if l.reg != nil && (err != nil || !os.SameFile(file, l.file)) {
		err := l.reg.Close()
		if l.reg = nil; err != nil {
			return err
		}
	}
	if l.reg == nil {
		reg, err := registry.Open(ctx, l.dir)
		if err != nil {
			return err
		}
		if file, err = os.Stat(filepath.Join(l.dir, registry.File)); err != nil {
			return errors.Join(err, reg.Close())
		}
		l.reg, l.file = reg, file
		l.generation++
	}
	if err := l.reg.CheckSchema(ctx); err != nil {
		return err
	}
	return f(l.reg, l.generation)
}

func (l *ledger) change(ctx context.Context, f func(context.Context, *registry.Tx) error) error {
	return l.use(ctx, func(reg *registry.Registry, _ int) error { return reg.Change(ctx, f) })
}

func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reg == nil {
		return nil
	}
	err := l.reg.Close()
	l.reg = nil
	return err
}
