package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// choose returns the records of the selected workers, for reading.
func (h *Host) choose(ctx context.Context, sel Selection) ([]registry.Record, []string, error) {
	return h.chooseFrom(ctx, h.store.Reading, sel)
}

// chooseNamed is like choose, for changes: nothing selected is not everything.
func (h *Host) chooseNamed(ctx context.Context, sel Selection) ([]registry.Record, []string, error) {
	if len(sel.Names) == 0 && !sel.All && sel.Tag == "" {
		return nil, nil, ErrNoSelection
	}
	return h.chooseFrom(ctx, h.store.Changing, sel)
}

func (h *Host) chooseFrom(
	ctx context.Context, open func(context.Context) (*registry.Registry, error), sel Selection,
) ([]registry.Record, []string, error) {
	h.startAhead()
	reg, err := open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return store.Select(ctx, reg, sel.Names, sel.Tag)
}

// ByAgent returns the selection with the worker of an agent in place of each name that
// no worker has and the agent does, see [store.Store.ByAgent].
func (h *Host) ByAgent(ctx context.Context, sel Selection) (Selection, error) {
	names, err := h.store.ByAgent(ctx, sel.Names)
	sel.Names = names
	return sel, err
}

// aheadMost is how many run directories startAhead looks at.
const aheadMost = 8

// startAhead starts the plugin that this call is likely to ask before the registry is
// opened and read: a plugin takes longer to serve than all that swarm does itself, so the
// registry is read meanwhile. A wrong guess costs a plugin that nothing is asked of, so it
// is made only for the first call of a host, and only if the run directories name a single
// backend.
func (h *Host) startAhead() {
	if h.store.IsOpen() {
		return
	}
	if e, err := h.catalog.Find(h.likelyBackend()); err == nil {
		h.plugins.Start(e)
	}
}

// likelyBackend returns the backend of the first few workers that a shim keeps; empty if
// there is none, or more than one. Workers can write their run directories, so nothing
// but a name is taken from there, which the catalog has to know: no command.
func (h *Host) likelyBackend() (backend string) {
	dir, err := safefile.OpenDir(filepath.Join(h.opts.Dir, statedir.WorkersDir))
	if err != nil {
		return ""
	}
	defer dir.Close()
	ids, err := dir.Readdirnames(aheadMost)
	if err != nil {
		return ""
	}
	for _, id := range ids {
		// A shim removes its socket when it leaves.
		if _, err := os.Lstat(filepath.Join(h.dir.RunDir(id), rundir.Socket)); err != nil {
			continue
		}
		var f struct {
			Backend string          `json:"backend"`
			Plugin  json.RawMessage `json:"plugin"`
		}
		text, err := safefile.Read(filepath.Join(h.dir.RunDir(id), rundir.WorkerFile), rundir.MaxWorker)
		if err != nil || json.Unmarshal(text, &f) != nil || f.Plugin != nil || backend != "" && backend != f.Backend {
			return ""
		}
		backend = f.Backend
	}
	return backend
}
