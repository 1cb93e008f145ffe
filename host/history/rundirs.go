package history

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// DropRunDirs removes the run directories of deleted records, except those that a shim
// still writes into, and returns how many it removed. It locks each of them, since the
// worker may be adopted again at the same time; the caller holds the locks of held.
func (h *History) DropRunDirs(ctx context.Context, reg *registry.Registry, held ...string) (int, error) {
	ids, err := reg.Leftovers(ctx)
	if err != nil {
		return 0, err
	}
	var dropped []string
	for _, id := range ids {
		unlock := func() {}
		if !slices.Contains(held, id) {
			var lerr error
			if unlock, lerr = h.Dir.TryLock(id); lerr != nil || unlock == nil {
				err = errors.Join(err, lerr)
				continue
			}
		}
		defer unlock()
		if _, gerr := reg.Get(ctx, id); !errors.Is(gerr, registry.ErrNotFound) || h.Dir.Kept(id) {
			continue // its record is there again, or a shim needs it
		}
		if rerr := os.RemoveAll(h.Dir.RunDir(id)); rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		dropped = append(dropped, id)
	}
	if len(dropped) == 0 {
		return 0, err
	}
	return len(dropped), errors.Join(err, reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		for _, id := range dropped {
			if err := tx.Forget(ctx, id); err != nil {
				return err
			}
		}
		return nil
	}))
}

// DropStrays removes the run directories of workers that are not in the registry, if the
// history has their end or their records go with their ends, and those of no worker. Any other
// may be all that is left of a lost registry. It also writes the worker.json of workers that
// lack it, which a crash of the machine during their spawn may have taken.
func (h *History) DropStrays(ctx context.Context, reg *registry.Registry) (int, error) {
	ids, err := h.Dir.RunDirs()
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	recs, unreadable, err := reg.Read(ctx, registry.Query{})
	if err != nil || len(unreadable) > 0 {
		return 0, err // a directory may belong to a record that can't be read
	}
	known := make(map[string]bool, len(recs))
	for i, r := range recs {
		if slices.Contains(ids, r.ID) && !h.Dir.HasWorkerFile(r.ID) {
			err = errors.Join(err, h.restoreWorkerFile(ctx, reg, &recs[i]))
		}
		known[r.ID] = true
		for _, id := range r.Previous {
			known[id] = true
		}
		if r.Replaces != nil {
			known[r.Replaces.ID] = true
		}
	}
	n := 0
	for _, name := range ids {
		id, ok := statedir.IDOf(name)
		if known[id] || !ok {
			continue
		}
		unlock, lerr := h.Dir.TryLock(id)
		if lerr != nil || unlock == nil {
			err = errors.Join(err, lerr)
			continue
		}
		defer unlock()
		if h.Dir.Kept(name) || !h.RemovedOnPurpose(ctx, reg, name) && !h.IsAbandoned(ctx, reg, name) {
			continue
		}
		if rerr := os.RemoveAll(h.Dir.RunDir(name)); rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		n++
	}
	return n, err
}

// restoreWorkerFile writes the worker.json of a worker from its record, unless another call is
// about to write it.
func (h *History) restoreWorkerFile(ctx context.Context, reg *registry.Registry, rec *registry.Record) error {
	unlock, err := h.Dir.TryLock(rec.ID)
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	now, err := reg.Get(ctx, rec.ID)
	if err != nil || h.Dir.HasWorkerFile(rec.ID) {
		return registry.IgnoreNotFound(err)
	}
	return h.Dir.WriteWorkerFile(&now)
}

// IsAbandoned reports whether a run directory is of no worker: no record names it, and it is
// [statedir.Dir.Abandoned]. The caller holds the lock of its id.
func (h *History) IsAbandoned(ctx context.Context, reg *registry.Registry, name string) bool {
	id, _ := statedir.IDOf(name)
	_, err := reg.Get(ctx, id)
	return errors.Is(err, registry.ErrNotFound) && h.Dir.Abandoned(name)
}

// RemovedOnPurpose reports whether a run directory belongs to a worker whose record was
// deleted on purpose.
func (h *History) RemovedOnPurpose(ctx context.Context, reg *registry.Registry, id string) bool {
	if _, err := reg.Get(ctx, id); !errors.Is(err, registry.ErrNotFound) {
		return false // its record was written since
	}
	if _, err := reg.End(ctx, id); err == nil {
		return true
	}
	f, err := h.Dir.ReadWorkerFile(id)
	if err != nil || f.Retain != registry.RetainNone {
		return false
	}
	s, err := statedir.ReadStatus(h.Dir.RunDir(id))
	return err == nil && (s.State == rundir.StateEnded || s.Completion != nil)
}

// LeftGroups returns the ids of the workers whose control groups are left over: they do not
// run, and their shim, which would have removed the group, was killed.
func (h *History) LeftGroups(ctx context.Context, reg *registry.Registry) ([]string, error) {
	ids := cgroup.Look().Leftovers(string(h.Dir))
	if len(ids) == 0 {
		return nil, nil
	}
	recs, _, err := reg.Read(ctx, registry.Query{})
	if err != nil {
		return nil, err
	}
	var left []string
	for _, id := range ids {
		// While it is started, no record names it yet.
		at := registry.IndexOf(recs, id)
		if h.Dir.Locked(id) || at >= 0 && recs[at].State != registry.Stopped {
			continue
		}
		left = append(left, id)
	}
	return left, nil
}

// DropGroups removes the control groups that are left over. One that still has processes
// stays: workers that were spawned from that worker share its limits.
func (h *History) DropGroups(ctx context.Context, reg *registry.Registry) error {
	left, err := h.LeftGroups(ctx, reg)
	machine := cgroup.Look()
	for _, id := range left {
		_ = machine.RemoveLeftover(string(h.Dir), id)
	}
	return err
}
