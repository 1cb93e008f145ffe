package team

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// WorkerUnmade undoes a [Join], or a [Rejoin], in the change that takes the record back.
// former is the id of the worker that it was to replace; empty: none.
func WorkerUnmade(ctx context.Context, tx *registry.Tx, rec *registry.Record, former, reason string) error {
	now := time.Now()
	if former != "" {
		if err := Moved(ctx, tx, rec.ID, former); err != nil {
			return err
		}
	}
	switch {
	case rec.Agent == "":
		return nil
	case former == "":
		return Unjoin(ctx, tx, rec.Agent, now)
	}
	_, err := Abandon(ctx, tx, rec.Agent, former, rec.Name, reason, now)
	return registry.IgnoreNotFound(err)
}

// WorkerRuns makes an agent active in the change that says that its worker runs.
func WorkerRuns(ctx context.Context, tx *registry.Tx, rec *registry.Record) error {
	if rec.Agent == "" {
		return nil
	}
	return Activate(ctx, tx, rec.Agent, rec.Place.Parts[partPane], time.Now())
}

// partPane is the part of a place that is the id of a terminal multiplexer's pane.
const partPane = "pane"

// WorkerAdopted is [WorkerRuns] for a worker whose spawn was interrupted. That its agent was
// ended meanwhile does not make the worker unfit to be adopted, and killed.
func WorkerAdopted(ctx context.Context, tx *registry.Tx, rec *registry.Record) error {
	err := WorkerRuns(ctx, tx, rec)
	if isGone(err) {
		return nil
	}
	return err
}

// WorkerCleaned ends an agent whose worker is cleaned: it can't be started again.
func WorkerCleaned(ctx context.Context, tx *registry.Tx, rec *registry.Record) error {
	if rec.Agent == "" {
		return nil
	}
	_, err := Release(ctx, tx, rec.Agent, Departure{Phase: Confirmed, Reason: "its worker was cleaned"}, time.Now())
	if isGone(err) {
		return nil
	}
	return err
}

// MayRestart refuses to start the worker of an agent again that has been terminated.
func MayRestart(ctx context.Context, tx *registry.Tx, rec *registry.Record) error {
	if rec.Agent == "" {
		return nil
	}
	a, err := tx.Agent(ctx, rec.Agent)
	switch {
	case errors.Is(err, registry.ErrNotFound):
		return &NoAgentError{Agent: rec.Agent, InTeam: rec.Team}
	case err == nil && a.Status == Terminated:
		return &TerminatedError{Agent: a.ID}
	}
	return err
}
