package host

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/launch"
	"github.com/swarmhost/swarm/host/pluginadmin"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
)

// Host answers for the workers of one state directory.
type Host struct {
	opts    Options
	dir     statedir.Dir
	log     hclog.Logger
	catalog *catalog.Catalog
	plugins *backend.Plugins
	// profiles reads the profiles of agents when they are first needed.
	profiles func() (*profile.Set, error)

	mu sync.Mutex
	// reg is nil until it is needed.
	reg      *registry.Registry
	readOnly bool
	// retired are registries that another one took the place of. A call that began
	// before may still use one, so they stay open until Close.
	retired []*registry.Registry
}

// Open returns the host of a state directory, or the error of [statedir.Check]. It
// starts no plugin and opens no database yet; the caller closes it.
func Open(_ context.Context, o Options) (*Host, error) {
	if err := statedir.Check(o.Dir); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	h := &Host{
		opts:     o,
		dir:      statedir.Dir(o.Dir),
		log:      o.Logger,
		catalog:  catalog.New(catalog.Options{Dir: o.Dir, Executable: o.Executable, Env: o.Env, Plugins: maps.Clone(o.Plugins)}),
		profiles: sync.OnceValues(func() (*profile.Set, error) { return profile.Load(o.ProfileDir) }),
	}
	h.plugins = backend.New(backend.Options{
		Dir: h.dir, Catalog: h.catalog, Logger: o.Logger, Waiting: o.Waiting,
		Starter: backend.Launcher(launch.New(launch.Options{Dir: o.Dir, Env: o.Env, Logger: o.Logger})),
	})
	return h, nil
}

// callers returns what finds out who calls.
func (h *Host) callers() *caller.Finder {
	return caller.New(caller.Options{Dir: h.dir, Env: h.opts.Env, Client: h.opts.Client, ClientIsPerson: h.opts.ClientIsPerson, View: h.View})
}

// Plugins returns the administration of plugins.
func (h *Host) Plugins() *pluginadmin.Admin {
	return pluginadmin.New(pluginadmin.Options{Dir: h.opts.Dir, Catalog: h.catalog, Plugins: h.plugins, Logger: h.log, Reading: h.reading})
}

// Dir returns the state directory.
func (h *Host) Dir() string { return h.opts.Dir }

// Close ends the plugins, within a bounded time, and closes the registry. It
// ends no worker.
func (h *Host) Close() error {
	h.plugins.Close()
	return h.closeRegistry()
}

// Leave is Close for a process that exits right after it: plugins are killed without
// being asked, and end while the registry is closed.
func (h *Host) Leave() error {
	h.plugins.Leave()
	defer h.plugins.Reap()
	return h.closeRegistry()
}

func (h *Host) closeRegistry() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.retire()
	var err error
	for _, reg := range h.retired {
		h.warnIf(reg.Scrub(context.Background()), "deleted records can't be erased")
		err = errors.Join(err, reg.Close())
	}
	h.retired = nil
	return err
}

// retire puts the registry aside, so that the next call opens it anew. The caller
// holds the mutex.
func (h *Host) retire() {
	if h.reg != nil {
		h.retired = append(h.retired, h.reg)
		h.reg = nil
	}
}

// reopen has the next call open the registry anew: the database in the state
// directory is another one.
func (h *Host) reopen() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.retire()
}

// reading returns the registry for reads, or nil where there never was one.
func (h *Host) reading(ctx context.Context) (*registry.Registry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reg != nil {
		return h.reg, nil
	}
	reg, err := registry.OpenReadOnly(ctx, h.opts.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h.reg, h.readOnly = reg, true
	return reg, nil
}

// writing returns the registry for changes, and makes it where there never was
// one.
func (h *Host) writing(ctx context.Context) (*registry.Registry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reg != nil && !h.readOnly {
		return h.reg, nil
	}
	reg, err := registry.Open(ctx, h.opts.Dir)
	if err != nil {
		return nil, err
	}
	h.retire()
	h.reg, h.readOnly = reg, false
	return reg, nil
}

// changing returns the registry for changes of workers that are there, or nil
// where there never was one. Where it can't be written it is opened for reading
// all the same: a full disk must not stand between a user and a kill.
func (h *Host) changing(ctx context.Context) (*registry.Registry, error) {
	if _, err := os.Lstat(filepath.Join(h.opts.Dir, registry.File)); err != nil {
		return h.reading(ctx)
	}
	reg, err := h.writing(ctx)
	if errors.Is(err, registry.ErrReadOnly) || errors.Is(err, registry.ErrFull) {
		h.log.Warn("the registry can't be written", "error", err)
		return h.reading(ctx)
	}
	return reg, err
}

// Names returns the names of all workers in the state directory dir, for
// completion. It starts nothing and writes nothing.
func Names(ctx context.Context, dir string) ([]string, error) {
	return namesOf(ctx, dir, (*registry.Registry).Names)
}

// HistoryNames is as [Names], for the workers that the history knows.
func HistoryNames(ctx context.Context, dir string) ([]string, error) {
	return namesOf(ctx, dir, (*registry.Registry).EventNames)
}

func namesOf(ctx context.Context, dir string, read func(*registry.Registry, context.Context) ([]string, error)) (names []string, err error) {
	if err := statedir.Check(dir); err != nil {
		return nil, err
	}
	reg, err := registry.OpenReadOnly(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reg.Close()) }()
	return read(reg, ctx)
}
