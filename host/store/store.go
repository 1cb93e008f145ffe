package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/proc"
)

// Options select the registry that a [Store] opens.
type Options struct {
	// Dir is the state directory, absolute.
	Dir    string
	Logger hclog.Logger
	// Quiet says that changes wake no agent, see [registry.Tx.Quiet].
	Quiet bool
	// Warn is called with what a user should know; nil: it is logged.
	Warn func(text string)
}

// Store is the registry of one state directory, which is opened when it is first
// needed. Methods may be called at the same time.
type Store struct {
	opts Options

	mu sync.Mutex
	// reg is nil until it is needed.
	reg      *registry.Registry
	readOnly bool
	// retired are registries that another one took the place of. A call that began
	// before may still use one, so they stay open until Close.
	retired []*registry.Registry
	// saidSlow is done once [Store.slow] has said it.
	saidSlow sync.Once
}

// New returns a store that has opened nothing yet.
func New(o Options) *Store { return &Store{opts: o} }

// Close erases deleted records and closes the registry. The next call opens it again.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
	var err error
	for _, reg := range s.retired {
		if serr := reg.Scrub(context.Background()); serr != nil {
			s.opts.Logger.Warn("deleted records can't be erased", "error", serr)
		}
		err = errors.Join(err, reg.Close())
	}
	s.retired = nil
	return err
}

// Quieten has the changes of this store wake no agent, as with [Options.Quiet]. It must
// not be called concurrently.
func (s *Store) Quieten() { s.opts.Quiet = true }

// retire puts the registry aside, so that the next call opens it anew. The caller
// holds the mutex.
func (s *Store) retire() {
	if s.reg != nil {
		s.retired = append(s.retired, s.reg)
		s.reg = nil
	}
}

// Reopen has the next call open the registry anew: the database in the state
// directory is another one.
func (s *Store) Reopen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
}

func (s *Store) IsOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reg != nil
}

// ToRead returns the registry for reads, or nil if no registry was ever made.
func (s *Store) ToRead(ctx context.Context) (*registry.Registry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reg != nil {
		return s.reg, nil
	}
	reg, err := registry.OpenReadOnly(ctx, s.opts.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.reg, s.readOnly = reg, true
	return reg, nil
}

// ToWrite returns the registry for changes. It makes the first one.
func (s *Store) ToWrite(ctx context.Context) (*registry.Registry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reg != nil && !s.readOnly {
		return s.reg, nil
	}
	reg, err := registry.Open(ctx, s.opts.Dir)
	if err != nil {
		return nil, err
	}
	s.retire()
	s.reg, s.readOnly = reg, false
	return reg, nil
}

// ToChange returns the registry for changes of workers that exist, or nil if no
// registry was ever made. One that can't be written is opened for reading all the
// same: a full disk must not stand between a user and a kill.
func (s *Store) ToChange(ctx context.Context) (*registry.Registry, error) {
	if _, err := os.Lstat(filepath.Join(s.opts.Dir, registry.File)); err != nil {
		return s.ToRead(ctx)
	}
	reg, err := s.ToWrite(ctx)
	if errors.Is(err, registry.ErrReadOnly) || errors.Is(err, registry.ErrFull) {
		s.opts.Logger.Warn("the registry can't be written", "error", err)
		return s.ToRead(ctx)
	}
	return reg, err
}

// Change runs change in one transaction of the registry, and makes the first registry.
// Nothing was changed if change returns an error. change must not call the Store, which
// would wait for the transaction.
func (s *Store) Change(ctx context.Context, change func(context.Context, *registry.Tx) error) error {
	reg, err := s.ToWrite(ctx)
	if err != nil {
		return err
	}
	return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		tx.Quiet = s.opts.Quiet
		return change(ctx, tx)
	})
}

// Edit changes the record of a worker in a transaction of its own.
func (s *Store) Edit(ctx context.Context, id string, change func(*registry.Record)) error {
	reg, err := s.ToWrite(ctx)
	if err != nil {
		return err
	}
	return reg.Edit(ctx, id, change)
}

// View is like [Store.Change] for a function that only reads: all that view reads is
// of one moment. If no registry was ever made it returns [fs.ErrNotExist] and does not
// call view.
func (s *Store) View(ctx context.Context, view func(context.Context, *registry.Tx) error) error {
	reg, err := s.ToRead(ctx)
	if err != nil {
		return err
	}
	if reg == nil {
		return fmt.Errorf("the registry in %s: %w", s.opts.Dir, fs.ErrNotExist)
	}
	return reg.View(ctx, view)
}

// AwaitChange calls check now and after every change of the registry, whichever process
// makes it, until check says that it is done or returns an error, or ctx ends.
func (s *Store) AwaitChange(ctx context.Context, check func(context.Context) (done bool, err error)) error {
	c, err := registry.Watch(s.opts.Dir)
	if err != nil {
		return err
	}
	defer c.Close()
	s.slow(c.Slow)
	for {
		if c.Replaced() {
			s.Reopen() // what is open is the file that was there before
		}
		if err := s.checkSchema(ctx); err != nil {
			return err
		}
		if done, err := check(ctx); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err, ok := <-c.Failed:
			if ok {
				return err
			}
		case <-c.C:
		}
	}
}

// checkSchema is a [registry.ErrNewer] if a newer swarm has migrated the open registry.
func (s *Store) checkSchema(ctx context.Context) error {
	s.mu.Lock()
	reg := s.reg
	s.mu.Unlock()
	if reg == nil {
		return nil
	}
	if err := reg.CheckSchema(ctx); errors.Is(err, registry.ErrNewer) {
		return err
	}
	return nil // the next query reports any other error
}

// slow says once that changes are only looked for now and then; text is empty if they are not.
func (s *Store) slow(text string) {
	if text == "" {
		return
	}
	s.saidSlow.Do(func() { s.Warn(text) })
}

// Warn passes on what a user should know.
func (s *Store) Warn(text string) {
	if s.opts.Warn != nil {
		s.opts.Warn(text)
	} else {
		s.opts.Logger.Warn(text)
	}
}

// SayIfSlow says, once, that output and the state of workers are only looked at now and then,
// if the kernel can give no notice of changes.
func (s *Store) SayIfSlow() { s.slow(proc.NotifyLimit()) }
