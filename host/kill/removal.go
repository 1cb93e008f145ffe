package kill

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

// RemoveWorkspace removes the workspace of a worker that has ended, or returns the reason why it
// stays. The caller holds the worker's lock, and records the removal.
//
// Until then the worker's record says on the disk that the removal was begun: if this process or
// the machine ends in between, [Killer.FinishRemovals] records it. A directory that is gone
// already was moved or removed by another process, which needs a person.
func (k *Killer) RemoveWorkspace(ctx context.Context, rec *registry.Record, force bool) (swarm.RemoveResult, error) {
	marks := rec.Workspace.Host == "" && !isGone(rec.Workspace.Path)
	if marks {
		// A removal is as good without the mark, and a full disk needs it.
		warn.If(k.Logger, k.markRemoval(ctx, rec.ID, true), "the removal of a workspace can't be recorded beforehand", "worker", rec.Name)
	}
	res, err := k.Plugins.RemoveWorkspace(ctx, rec, force)
	if marks && !isGone(rec.Workspace.Path) {
		warn.If(k.Logger, k.markRemoval(ctx, rec.ID, false), "the workspace that stays can't be recorded", "worker", rec.Name)
	}
	return res, err
}

// markRemoval records that the removal of a workspace was begun, durably, or that it was given up.
func (k *Killer) markRemoval(ctx context.Context, id string, begun bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RecordLimit)
	defer cancel()
	reg, err := k.Store.ToWrite(ctx)
	if err != nil {
		return err
	}
	err = registry.IgnoreNotFound(reg.Edit(ctx, id, func(r *registry.Record) { r.Removing = begun }))
	if err == nil && begun {
		// This also makes the end of the worker durable, and the deletion of an ephemeral one's record.
		err = reg.Sync()
	}
	return err
}

// FinishRemovals finishes the removals of workspaces on this machine that were interrupted when
// the directory was already gone, and returns the workers. A directory that is still there
// stays, and so does its record: a workspace is only removed on request.
func (k *Killer) FinishRemovals(ctx context.Context) (finished []registry.Record, err error) {
	reg, err := k.Store.ToWrite(ctx)
	if err != nil {
		return nil, err
	}
	recs, _, err := reg.Read(ctx, registry.Query{State: registry.Stopped})
	for _, rec := range recs {
		if !backend.RemovalCut(&rec) {
			continue
		}
		done, ferr := k.finishRemoval(ctx, reg, rec)
		if done {
			finished = append(finished, rec)
		}
		err = errors.Join(err, ferr)
	}
	return finished, err
}

func (k *Killer) finishRemoval(ctx context.Context, reg *registry.Registry, rec registry.Record) (bool, error) {
	unlock, err := k.Dir.TryLock(rec.ID)
	if err != nil || unlock == nil {
		return false, err
	}
	defer unlock()
	rec, err = store.Reread(ctx, reg, rec)
	if errors.Is(err, store.ErrNotFound) || err == nil && !backend.RemovalCut(&rec) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	// Git may know the directory still.
	res, err := k.Plugins.RemoveWorkspace(ctx, &rec, false)
	if err != nil || res.Kept != nil {
		return false, err
	}
	return true, k.forgetWorkspace(ctx, rec.ID)
}
