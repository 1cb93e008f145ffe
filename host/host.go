package host

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/shared/swarm"
)

var errTODO = errors.New("not built yet")

// Host answers for the workers of one state directory.
type Host struct{ opts Options }

// Open returns the host of a state directory. It starts no plugin and opens no
// database yet; the caller closes it.
func Open(ctx context.Context, o Options) (*Host, error) { return &Host{opts: o}, nil }

// Close ends the plugins, within a bounded time, and closes the registry. It
// ends no worker.
func (h *Host) Close() error { return nil }

// Workers returns the selected workers as they are now. A selection without
// names, All and Tag means all. An unknown name is an [ErrNotFound], and nothing
// else is returned then. Records that can't be read are left out and named in
// warnings. A backend that can't be asked makes its own workers
// [StatusUnknown].
func (h *Host) Workers(ctx context.Context, sel Selection) (ws []Worker, warnings []string, err error) {
	return nil, nil, errTODO
}

// Select returns the selected workers as recorded, without asking any backend:
// a worker that is not known to have ended is [StatusUnknown].
func (h *Host) Select(ctx context.Context, sel Selection) ([]Worker, error) { return nil, errTODO }

// Names returns the names of all workers in the state directory dir, for
// completion. It starts nothing and writes nothing.
func Names(ctx context.Context, dir string) ([]string, error) { return nil, errTODO }

// CallerDir returns the state directory of the worker that the calling process
// runs in, as its keeper proves it; empty if it runs in none.
func CallerDir() string { return "" }

// Wait calls each with every selected worker as it ends, those that have ended
// first, and returns when the last one did. It writes nothing.
func (h *Host) Wait(ctx context.Context, sel Selection, each func(Worker)) error { return errTODO }

// Logs calls each for every piece of output of one worker, running or ended, and
// returns an error of each as it is.
func (h *Host) Logs(ctx context.Context, name string, o swarm.OutputOptions, each func(swarm.Output) error) error {
	return errTODO
}
