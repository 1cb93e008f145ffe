package history

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// journalBatch is how many entries are recorded in one change.
const journalBatch = 500

// Drain records what the entries of the journal report, and removes the entries.
func (h *History) Drain(ctx context.Context, reg *registry.Registry, busy func(id string) bool) error {
	dir, err := safefile.OpenDir(h.Dir.JournalPath(""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(journalBatch)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = h.drainBatch(ctx, reg, names, busy)
		}
		if err != nil {
			return err
		}
	}
}

// drainBatch drains some entries. An entry stays until its content is recorded.
func (h *History) drainBatch(ctx context.Context, reg *registry.Registry, names []string, busy func(id string) bool) error {
	entries := make(map[string][]string)
	var ids []string
	for _, name := range names {
		id := rundir.JournalID(name)
		if !statedir.IsID(id) || busy(id) {
			continue
		}
		if entries[id] == nil {
			ids = append(ids, id)
		}
		entries[id] = append(entries[id], name)
	}
	if len(ids) == 0 {
		return nil
	}
	recs, unreadable, err := reg.Read(ctx, registry.Query{Names: ids})
	if err != nil {
		return err
	}
	var fresh []Report
	for _, id := range ids {
		at := registry.IndexOf(recs, id)
		if at < 0 {
			if len(unreadable) > 0 {
				delete(entries, id) // its record may be one that can't be read
			}
			continue // its record is gone
		}
		rec := recs[at]
		if rec.State == registry.Stopped {
			continue // another process has recorded it
		}
		status, err := client.Recorded(h.Dir.RunDir(id), id)
		switch {
		case rec.State == registry.Starting:
			delete(entries, id) // its spawn has to be recorded first
		case err != nil:
			h.Logger.Warn("the journal of a shim can't be read", "worker", rec.Name, "error", err)
			delete(entries, id)
		case IsNew(&rec, status):
			fresh = append(fresh, h.Report(ctx, rec, status))
		}
	}
	if len(fresh) > 0 {
		if _, err := h.Write(ctx, reg, fresh); err != nil {
			return err
		}
	}
	// A new entry has another name.
	for _, names := range entries {
		for _, name := range names {
			if rerr := os.Remove(h.Dir.JournalPath(name)); !errors.Is(rerr, fs.ErrNotExist) {
				err = errors.Join(err, rerr)
			}
		}
	}
	return err
}

// CatchUp asks a backend for the workers of a group and records what is new.
func (h *History) CatchUp(ctx context.Context, reg *registry.Registry, g *backend.Group) ([]Written, error) {
	var all []Report
	for i, r := range h.Plugins.Statuses(ctx, g) {
		if r.Err == nil && IsNew(&g.Recs[i], r.Status) {
			all = append(all, h.Report(ctx, g.Recs[i], r.Status))
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return h.Write(ctx, reg, all)
}

// Stale looks into the run directory of a worker that is recorded as running and reports
// whether the record may be out of date, so that its backend has to be asked. Most workers
// plainly run.
func (h *History) Stale(rec *registry.Record) bool {
	s, err := statedir.ReadStatus(h.Dir.RunDir(rec.ID))
	return err != nil || s.State != rundir.StateRunning || s.Restarts > rec.Restarts ||
		s.Completion != nil && rec.Completion == nil || !client.IsKept(h.Dir.RunDir(rec.ID), s)
}
