package host

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// join makes known who the worker of a plan is to be, in the change that enters its
// record: an agent may call before its spawn is over.
func (p *plan) join(ctx context.Context, tx *registry.Tx) (err error) {
	rec, now := &p.rec, time.Now()
	if p.place != "" {
		if err := team.Moved(ctx, tx, p.place, rec.ID); err != nil {
			return err
		}
	}
	switch {
	case p.joining != nil:
		_, p.warning, err = team.Join(ctx, tx, *p.joining, rec.ID, rec.Name, caller.HashToken(p.token), now)
	case rec.Agent != "":
		err = team.Rejoin(ctx, tx, rec.Agent, rec.ID, rec.Name, caller.HashToken(p.token), now)
	case rec.Team != "":
		_, err = team.Get(ctx, tx, rec.Team)
	}
	return err
}

// unjoin undoes join in the change that takes the record back. former is the id of
// the worker that it was to replace; empty: none.
func unjoin(ctx context.Context, tx *registry.Tx, rec *registry.Record, former, reason string) error {
	now := time.Now()
	if former != "" {
		if err := team.Moved(ctx, tx, rec.ID, former); err != nil {
			return err
		}
	}
	switch {
	case rec.Agent == "":
		return nil
	case former == "":
		return team.Unjoin(ctx, tx, rec.Agent, now)
	}
	_, err := team.Abandon(ctx, tx, rec.Agent, former, rec.Name, reason, now)
	return ignoreNotFound(err)
}

// begin makes an agent active in the change that says that its worker runs.
func begin(ctx context.Context, tx *registry.Tx, rec *registry.Record) error {
	if rec.Agent == "" {
		return nil
	}
	return team.Activate(ctx, tx, rec.Agent, rec.Place.Parts[partPane], time.Now())
}

// partPane is the part of a place that is the id of a terminal multiplexer's pane.
const partPane = "pane"

// adopted is begin for a worker whose spawn was interrupted. That its agent was
// ended meanwhile does not make the worker unfit to be adopted, and killed.
func adopted(ctx context.Context, tx *registry.Tx, rec *registry.Record) error {
	err := begin(ctx, tx, rec)
	if _, over := errors.AsType[*team.TerminatedError](err); over {
		return nil
	}
	return ignoreNotFound(err)
}

// retire ends an agent whose worker is cleaned: it can't be started again.
func retire(ctx context.Context, tx *registry.Tx, rec *registry.Record) error {
	if rec.Agent == "" {
		return nil
	}
	_, err := team.Release(ctx, tx, rec.Agent, team.Leaving{Phase: team.Confirmed, Reason: "its worker was cleaned"}, time.Now())
	if _, over := errors.AsType[*team.TerminatedError](err); over {
		return nil
	}
	return ignoreNotFound(err)
}

// mayRejoin refuses to start the worker of a terminated agent again.
func mayRejoin(ctx context.Context, tx *registry.Tx, rec *registry.Record) error {
	if rec.Agent == "" {
		return nil
	}
	a, err := tx.Agent(ctx, rec.Agent)
	switch {
	case errors.Is(err, registry.ErrNotFound):
		return &team.NoAgentError{Agent: rec.Agent, InTeam: rec.Team}
	case err == nil && a.Status == team.Terminated:
		return &team.TerminatedError{Agent: a.ID}
	}
	return err
}
