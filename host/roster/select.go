package roster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// See returns the records of the selected workers, for reading. A selection without names, All and
// Tag means all. An unknown name is a [store.ErrNotFound], and nothing else is returned then; the
// warnings name records that can't be read.
func (r *Roster) See(ctx context.Context, sel worker.Selection) (recs []registry.Record, warnings []string, err error) {
	return r.from(ctx, r.Store.ToRead, sel)
}

// Pick is [Roster.See] for changes: an empty selection is a [worker.ErrNoSelection].
func (r *Roster) Pick(ctx context.Context, sel worker.Selection) (recs []registry.Record, warnings []string, err error) {
	if len(sel.Names) == 0 && !sel.All && sel.Tag == "" {
		return nil, nil, worker.ErrNoSelection
	}
	return r.from(ctx, r.Store.ToChange, sel)
}

func (r *Roster) from(
	ctx context.Context, open func(context.Context) (*registry.Registry, error), sel worker.Selection,
) ([]registry.Record, []string, error) {
	r.startAhead()
	reg, err := open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return store.Select(ctx, reg, sel.Names, sel.Tag)
}

// Begun returns the record of a worker that runs, for reading. It waits until the spawn of the
// worker has ended.
func (r *Roster) Begun(ctx context.Context, name string) (registry.Record, error) {
	recs, _, err := r.See(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return registry.Record{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		if _, err := r.Dir.AwaitLock(ctx, rec.ID); err != nil {
			return rec, err
		}
		if rec, err = r.Restored(ctx, rec); err != nil {
			return rec, err
		}
	}
	switch rec.State {
	case registry.Running:
		return rec, nil
	case registry.Stopped:
		return rec, worker.NotRunning(rec.Name)
	default:
		return rec, fmt.Errorf("cannot wait for '%s': its %s", rec.Name, history.ReasonInterrupted)
	}
}

// Restored is [store.Restored] for reading.
func (r *Roster) Restored(ctx context.Context, rec registry.Record) (registry.Record, error) {
	reg, err := r.Store.ToRead(ctx)
	if err != nil {
		return rec, err
	}
	return store.Restored(ctx, reg, rec)
}

// Awaited returns the records of workers to wait for, for reading. An ephemeral worker may be gone
// if another process has recorded its end; its exit has to be reported all the same.
func (r *Roster) Awaited(ctx context.Context, sel worker.Selection) ([]registry.Record, error) {
	recs, _, err := r.See(ctx, sel)
	if !errors.Is(err, store.ErrNotFound) {
		return recs, err
	}
	recs = nil
	for _, name := range sel.Names {
		one, _, err := r.See(ctx, worker.Selection{Names: []string{name}})
		if errors.Is(err, store.ErrNotFound) {
			one, err = r.departed(ctx, name)
		}
		if err != nil {
			return nil, err
		}
		if registry.IndexOf(recs, one[0].ID) < 0 {
			recs = append(recs, one[0])
		}
	}
	return recs, nil
}

// departed returns the record of an ephemeral worker that has gone with its end.
func (r *Roster) departed(ctx context.Context, name string) ([]registry.Record, error) {
	reg, err := r.Store.ToRead(ctx)
	if err != nil {
		return nil, err
	}
	rec, err := history.Departed(ctx, reg, name)
	return []registry.Record{rec}, err
}

// aheadMost is how many run directories startAhead looks at.
const aheadMost = 8

// startAhead starts the plugin that this call is likely to ask before the registry is
// opened and read: a plugin takes longer to serve than all that swarm does itself, so the
// registry is read meanwhile. A wrong guess costs a plugin that is never asked, so it
// is made only for the first call of a host, and only if the run directories name a single
// backend.
func (r *Roster) startAhead() {
	if r.Store.IsOpen() {
		return
	}
	if e, err := r.Catalog.Find(r.likelyBackend()); err == nil {
		r.Plugins.Start(e)
	}
}

// likelyBackend returns the backend of the first few workers that a shim keeps; empty if
// there is none, or more than one. Workers can write their run directories, so nothing
// but a name is taken from there, which the catalog has to know: no command.
func (r *Roster) likelyBackend() (backend string) {
	dir, err := safefile.OpenDir(filepath.Join(string(r.Dir), statedir.WorkersDir))
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
		if _, err := os.Lstat(filepath.Join(r.Dir.RunDir(id), rundir.Socket)); err != nil {
			continue
		}
		var f struct {
			Backend string          `json:"backend"`
			Plugin  json.RawMessage `json:"plugin"`
		}
		text, err := safefile.Read(filepath.Join(r.Dir.RunDir(id), rundir.WorkerFile), rundir.MaxWorker)
		if err != nil || json.Unmarshal(text, &f) != nil || f.Plugin != nil || backend != "" && backend != f.Backend {
			return ""
		}
		backend = f.Backend
	}
	return backend
}

// Names returns the names of the selected workers. It asks no backend.
func (r *Roster) Names(ctx context.Context, sel worker.Selection) ([]string, error) {
	recs, _, err := r.See(ctx, sel)
	names := make([]string, len(recs))
	for i, rec := range recs {
		names[i] = rec.Name
	}
	return names, err
}

// ByAgent returns the selection with the worker of an agent in place of each name that
// no worker has and the agent does, see [store.Store.ByAgent].
func (r *Roster) ByAgent(ctx context.Context, sel worker.Selection) (worker.Selection, error) {
	names, err := r.Store.ByAgent(ctx, sel.Names)
	sel.Names = names
	return sel, err
}

// Observe returns the workers of the records as they are now, in the same order. It asks each
// backend once; a backend that can't be asked makes its own workers [worker.StatusUnknown].
func (r *Roster) Observe(ctx context.Context, recs []registry.Record) []worker.Worker {
	ws := make([]worker.Worker, len(recs))
	for i, rec := range recs {
		ws[i] = worker.Of(rec)
		if rec.State == registry.Starting {
			ws[i].Status = worker.StatusStarting
			if !r.Dir.Locked(rec.ID) {
				ws[i].Reason = history.ReasonInterrupted
			}
		}
	}
	backend.Each(r.Plugins.Groups(recs, registry.Record.IsRunning), func(g *backend.Group) {
		for i, s := range r.Plugins.Statuses(ctx, g) {
			ws[g.At[i]].Apply(s)
			ws[g.At[i]].Can = g.Can
		}
	})
	return ws
}

// Remember fills in the exit of a worker from the history: the process that recorded it
// may have removed everything else since.
func (r *Roster) Remember(ctx context.Context, w *worker.Worker) {
	if w.Status == worker.StatusStopped && w.Exit != nil {
		return
	}
	reg, err := r.Store.ToRead(ctx)
	if err != nil || reg == nil {
		return
	}
	if e, err := reg.End(ctx, w.ID); err == nil && e.Exit != nil {
		w.Status, w.PID, w.Reason, w.Exit, w.Ended, w.Survivors = worker.StatusStopped, 0, "", e.Exit, e.Exit.Time, nil
	}
}
