package settle

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

const ReasonNotRespawned = "it could not be respawned"

// restore puts back the record that an interrupted respawn, whose lock the caller
// holds, was to replace. A workspace that was made for it is the old worker's if
// that has none.
func (s *Settler) restore(ctx context.Context, reg *registry.Registry, rec *registry.Record, made *swarm.WorkspaceRef) error {
	old := rec.Replaces
	events := []registry.Event{history.NewEvent(old, history.RespawnFailed, history.ReasonInterrupted, time.Now())}
	switch {
	case made == nil:
	case old.Workspace == nil || backend.IsMissing(old.Workspace):
		old.Workspace, old.Dir = made, backend.DirIn(old.Ask, made)
	case old.Workspace.Location() != made.Location():
		events = append(events, history.NewEvent(old, history.Kept, made.Location(), time.Now()))
	}
	err := reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		if err := errors.Join(PutBack(ctx, tx, rec, old.ID, old), tx.Leave(ctx, rec.ID)); err != nil {
			return err
		}
		_, err := tx.Append(ctx, events...)
		return err
	})
	if err != nil {
		return err
	}
	_, err = s.History.DropRunDirs(ctx, reg, rec.ID)
	warn.If(s.Logger, err, "run directories can't be removed")
	return nil
}

// Succeed lets the run directories go of those incarnations that the worker in the
// place of the replaced one does not remember.
func Succeed(ctx context.Context, tx *registry.Tx, rec, replaced *registry.Record) error {
	if replaced == nil {
		return nil
	}
	for _, id := range append(replaced.Previous, replaced.ID) {
		if slices.Contains(rec.Previous, id) {
			continue
		}
		if err := tx.Leave(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// PutBack removes the record of a spawn that failed; the one that it was to replace,
// whose id is former, is there again unless it is gone.
func PutBack(ctx context.Context, tx *registry.Tx, rec *registry.Record, former string, replaced *registry.Record) error {
	err := errors.Join(team.WorkerUnmade(ctx, tx, rec, former, ReasonNotRespawned), tx.Delete(ctx, rec.ID))
	if err != nil || replaced == nil {
		return err
	}
	return tx.Insert(ctx, replaced)
}

func EndMade(ctx context.Context, p *backend.Peer, handle swarm.Handle) error {
	res, err := p.Backend.Kill(ctx, handle, swarm.KillOptions{Force: true})
	if err == nil {
		err = history.Confirmed(p.Name, res)
	}
	return err
}
