package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// runDirIDs returns the names in the directory of run directories.
func (h *Host) runDirIDs() ([]string, error) {
	entries, err := safefile.ReadDir(filepath.Join(h.opts.Dir, workersDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids, nil
}

// dropRunDirs removes the run directories whose records went, but for those that
// a keeper still writes into, and returns how many it removed. Each is locked, since
// one may be about to be adopted again; held are those whose locks the caller holds.
func (h *Host) dropRunDirs(ctx context.Context, reg *registry.Registry, held ...string) (int, error) {
	ids, err := reg.Leftovers(ctx)
	if err != nil {
		return 0, err
	}
	var dropped []string
	for _, id := range ids {
		unlock := func() {}
		if !slices.Contains(held, id) {
			var lerr error
			if unlock, lerr = h.tryLock(id); lerr != nil || unlock == nil {
				err = errors.Join(err, lerr)
				continue
			}
		}
		defer unlock()
		if _, gerr := reg.Get(ctx, id); !errors.Is(gerr, registry.ErrNotFound) || h.kept(id) {
			continue // it is there again, or still needed
		}
		if rerr := os.RemoveAll(h.runDir(id)); rerr != nil {
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

// kept reports whether a shim still needs a run directory.
func (h *Host) kept(id string) bool {
	s, err := readStatus(h.runDir(id))
	return err == nil && s.State != rundir.StateEnded && shim.IsKept(h.runDir(id), s)
}

// dropStrays removes the run directories of workers that are not in the registry
// and whose end the history tells, or which were not to be remembered. Others may
// be all that is left of a registry that was lost.
func (h *Host) dropStrays(ctx context.Context, reg *registry.Registry) (int, error) {
	ids, err := h.runDirIDs()
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	recs, unreadable, err := reg.Read(ctx, registry.Query{})
	if err != nil || len(unreadable) > 0 {
		return 0, err // it may be of one that can't be read
	}
	known := make(map[string]bool, len(recs))
	for _, r := range recs {
		known[r.ID] = true
		for _, id := range r.Previous {
			known[id] = true
		}
		if r.Replaces != nil {
			known[r.Replaces.ID] = true
		}
	}
	n := 0
	for _, id := range ids {
		if known[id] || !isID(id) {
			continue
		}
		unlock, lerr := h.tryLock(id)
		if lerr != nil || unlock == nil {
			err = errors.Join(err, lerr)
			continue
		}
		defer unlock()
		if h.kept(id) || !h.goneOnPurpose(ctx, reg, id) {
			continue
		}
		if rerr := os.RemoveAll(h.runDir(id)); rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		n++
	}
	return n, err
}

// goneOnPurpose reports whether a run directory is of a worker whose record went
// with its end.
func (h *Host) goneOnPurpose(ctx context.Context, reg *registry.Registry, id string) bool {
	if _, err := reg.Get(ctx, id); !errors.Is(err, registry.ErrNotFound) {
		return false // it has come since
	}
	if _, err := reg.End(ctx, id); err == nil {
		return true
	}
	f, err := h.readWorkerFile(id)
	if err != nil || f.Retain != registry.RetainNone {
		return false
	}
	s, err := readStatus(h.runDir(id))
	return err == nil && (s.State == rundir.StateEnded || s.Completion != nil)
}
