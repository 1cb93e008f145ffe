package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ShimBackend is a backend whose workers run on one machine, each below a shim.
type ShimBackend interface {
	swarm.Backend
	swarm.BatchStatuser
	swarm.Finder
	swarm.Watcher
	swarm.SpawnChecker
}

// Terminal is a ShimBackend whose workers run on terminals.
type Terminal interface {
	ShimBackend
	swarm.Sweeper
	swarm.Screener
	swarm.Attacher
	swarm.Resizer
	swarm.Checker
}

// Options are the options of a [Backend]. All but Machine are set.
type Options struct {
	// Dir is the directory for the workers of this user, absolute.
	Dir string
	// Shim is the path of swarm-shim, absolute.
	Shim string
	// Machine is the id of this machine, see [MachineID].
	Machine string
	// Env is the environment that workers get here.
	Env []string
	// Process and Terminal run the workers.
	Process  ShimBackend
	Terminal Terminal
	// Worktrees makes the workspaces.
	Worktrees Worktrees
	// Logger is for people.
	Logger *slog.Logger
}

// Backend implements [ShimBackend], [Worktrees], the capabilities of [shim.Kept], and those asserted
// below for the workers of this machine. All its methods may be called at the same time.
type Backend struct {
	// Kept does what needs no more than the shim of a worker, of whatever kind.
	shim.Kept
	opts  Options
	store store
}

var (
	_ ShimBackend         = (*Backend)(nil)
	_ Worktrees           = (*Backend)(nil)
	_ swarm.Sweeper       = (*Backend)(nil)
	_ swarm.Outputter     = (*Backend)(nil)
	_ swarm.Lister        = (*Backend)(nil)
	_ swarm.Screener      = (*Backend)(nil)
	_ swarm.BatchScreener = (*Backend)(nil)
	_ swarm.Attacher      = (*Backend)(nil)
	_ swarm.Resizer       = (*Backend)(nil)
	_ swarm.Execer        = (*Backend)(nil)
	_ swarm.Copier        = (*Backend)(nil)
	_ swarm.Announcer     = (*Backend)(nil)
)

func New(o Options) *Backend {
	b := &Backend{opts: o, store: store{dir: o.Dir}}
	b.Kept = shim.Kept{Read: func(raw swarm.Handle) (shim.Worker, error) {
		h, err := b.handle(raw)
		if err != nil {
			return shim.Worker{}, err
		}
		return b.worker(h)
	}}
	return b
}

// Announce returns the fields of a spec that shims carry out.
func (b *Backend) Announce() []swarm.Capability {
	return []swarm.Capability{
		swarm.CapStdin, swarm.CapRestart,
		swarm.CapLimitMemory, swarm.CapLimitCPUs, swarm.CapLimitPIDs, swarm.CapLimitNice, swarm.CapLimitIOWeight,
	}
}

func (b *Backend) backend(kind string) ShimBackend {
	if kind == KindTerminal {
		return b.opts.Terminal
	}
	return b.opts.Process
}

// of returns the backend of a worker, and the handle that it knows the worker by.
func (b *Backend) of(raw swarm.Handle) (ShimBackend, swarm.Handle, error) {
	h, err := b.handle(raw)
	if err != nil {
		return nil, swarm.Handle{}, err
	}
	return b.backend(h.Kind), h.inner(), nil
}

// Spawn starts a worker in a new run directory.
func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (_ swarm.Handle, err error) {
	start, err := b.startOf(spec.Options)
	if err != nil {
		return swarm.Handle{}, err
	}
	unlock, err := b.store.lock(ctx, spec.ID)
	if err != nil {
		return swarm.Handle{}, err
	}
	defer unlock()
	last, err := b.store.lastGivenUp(spec.ID)
	if err != nil {
		return swarm.Handle{}, fmt.Errorf("%w: whether worker %s was given up: %w", swarm.ErrUnavailable, spec.ID, err)
	}
	if max(start.Attempt, 1) <= last {
		return swarm.Handle{}, fmt.Errorf("%w: the start of worker %s was given up", swarm.ErrTooLate, spec.ID)
	}
	r := record{Kind: kindOf(spec), Spec: spec, Created: time.Now(), Origin: b.Origin(), Owner: start.Owner}
	r.Spec.Env, r.Spec.Options = nil, ofWorker(spec.Options)
	if spec, err = b.settle(ctx, r.Kind, spec); err != nil {
		return swarm.Handle{}, err
	}
	if err := b.store.make(r); err != nil {
		return swarm.Handle{}, err
	}
	dir := b.store.runDir(spec.ID)
	defer func() {
		if err != nil && !b.store.begun(spec.ID) {
			_ = os.RemoveAll(dir)
		}
	}()
	inner, err := b.backend(r.Kind).Spawn(ctx, spec)
	if err != nil {
		return swarm.Handle{}, err
	}
	return b.started(r, inner)
}

func kindOf(spec swarm.Spec) string {
	if spec.Options[swarm.OptionTTY] == "true" {
		return KindTerminal
	}
	return KindProcess
}

// CheckSpawn returns the error with which Spawn would fail, without an effect.
func (b *Backend) CheckSpawn(ctx context.Context, c swarm.SpawnCheck) error {
	kind := kindOf(c.Spec)
	spec, err := b.settle(ctx, kind, c.Spec)
	if err != nil {
		return err
	}
	c.Spec = spec
	return b.backend(kind).CheckSpawn(ctx, c)
}

// started returns the handle of a worker, and adds it to the record.
func (b *Backend) started(r record, inner swarm.Handle) (swarm.Handle, error) {
	h := handleOf(r, inner)
	r.Handle = &h
	_ = b.store.write(r) // without it Find asks the shim for the handle
	return h.Encode()
}

// settle fills in what a host on this machine would say of a worker.
func (b *Backend) settle(ctx context.Context, kind string, spec swarm.Spec) (swarm.Spec, error) {
	if spec.Dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return spec, err
		}
		spec.Dir = home
	}
	if info, err := os.Stat(spec.Dir); err != nil || !info.IsDir() {
		return spec, fmt.Errorf("%w: no such directory: %s", swarm.ErrInvalidSpec, spec.Dir)
	}
	if kind == KindTerminal {
		if err := b.opts.Terminal.Check(ctx); err != nil {
			return spec, fmt.Errorf("%w: a terminal needs tmux there: %w", swarm.ErrInvalidSpec, err)
		}
	}
	spec.Options = nil
	spec.Local = &swarm.Local{RunDir: b.store.runDir(spec.ID), StateDir: b.opts.Dir, Shim: b.opts.Shim, HostEnv: b.opts.Env}
	return spec, nil
}

// Find returns the worker of an id. If there is none, a start that was cut off has ended: what it
// has left is removed, and it is refused should it still arrive.
func (b *Backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	start, err := b.startOf(l.Options)
	if err != nil {
		return swarm.Handle{}, err
	}
	unlock, err := b.store.lock(ctx, l.ID)
	if err != nil {
		return swarm.Handle{}, err
	}
	defer unlock()
	gone := func() (swarm.Handle, error) {
		if err := b.store.giveUp(l.ID, start.before()); err != nil {
			return swarm.Handle{}, fmt.Errorf("%w: the start of worker %s can't be given up: %w", swarm.ErrUnavailable, l.ID, err)
		}
		_ = os.RemoveAll(b.store.runDir(l.ID))
		return swarm.Handle{}, fmt.Errorf("%w: worker %s", swarm.ErrNotFound, l.ID)
	}
	r, err := b.store.read(l.ID)
	if errors.Is(err, fs.ErrNotExist) && !b.store.begun(l.ID) {
		return gone() // without a record nothing was started
	}
	if err != nil {
		return swarm.Handle{}, fmt.Errorf("%w: the record of worker %s can't be read: %w", swarm.ErrUnavailable, l.ID, err)
	}
	if r.Handle != nil {
		return r.Handle.Encode()
	}
	if err := b.isHere(r.Origin, start.Host); err != nil {
		return swarm.Handle{}, err
	}
	inner, err := b.backend(r.Kind).Find(ctx, swarm.Lookup{
		ID: l.ID, Name: r.Spec.Name,
		Local: &swarm.Local{RunDir: b.store.runDir(l.ID), StateDir: b.opts.Dir, Shim: b.opts.Shim},
	})
	if errors.Is(err, swarm.ErrNotFound) && !b.store.begun(l.ID) {
		return gone()
	}
	if err != nil {
		return swarm.Handle{}, err
	}
	return b.started(r, inner)
}

// List lists all workers that were started in the directory. The error names those whose
// status can't be read.
func (b *Backend) List(ctx context.Context, each func(swarm.Listed) error) error {
	entries, err := os.ReadDir(b.store.workers())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var found []swarm.Listed
	var handles []swarm.Handle
	for _, e := range entries {
		r, err := b.store.read(e.Name())
		if err != nil || r.Handle == nil {
			continue // not a worker, or not yet
		}
		raw, err := r.Handle.Encode()
		if err != nil {
			continue
		}
		r.Spec.Options = ofWorker(r.Spec.Options)
		if r.Owner != "" {
			r.Spec.Options[OptionOwner] = r.Owner
		}
		found = append(found, swarm.Listed{Spec: r.Spec, Handle: raw, Created: r.Created})
		handles = append(handles, raw)
	}
	results, err := b.StatusBatch(ctx, handles)
	if err != nil {
		return err
	}
	var unread []error
	for i, l := range found {
		switch err := results[i].Err; {
		case errors.Is(err, swarm.ErrNotFound):
			continue
		case err != nil:
			unread = append(unread, fmt.Errorf("worker '%s': %w", l.Spec.Name, err))
			continue
		}
		l.Status = results[i].Status
		if err := each(l); err != nil {
			return err
		}
	}
	return errors.Join(unread...)
}
