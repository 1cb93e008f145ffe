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
	_, err := Release(ctx, tx, rec.Agent, Departure{Phase: registry.ShutdownConfirmed, Reason: "its worker was cleaned"}, time.Now())
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
	case err == nil && a.Status == registry.AgentTerminated:
		return &TerminatedError{Agent: a.ID}
	}
	return err
}

// Memberships returns the members in a worker: an agent, the leaders of teams, or both.
// Named has the meaning that it has in [Pending].
func Memberships(ctx context.Context, tx *registry.Tx, workerID string) (all []registry.Membership, named func(team string) bool, err error) {
	agents, _, err := tx.Agents(ctx, registry.AgentQuery{WorkerID: workerID, Live: true})
	if err != nil || workerID == "" {
		return nil, nil, err
	}
	own := ""
	for _, a := range agents {
		if a.Lost.IsZero() {
			all, own = append(all, registry.Membership{Team: a.Team, Member: a.ID}), a.Team
		}
	}
	teams, _, err := tx.Teams(ctx)
	if err != nil {
		return nil, nil, err
	}
	led := 0
	for _, t := range teams {
		if t.LeaderWorker == workerID {
			all, led = append(all, registry.Membership{Team: t.Name, Member: Leader}), led+1
		}
	}
	return all, func(team string) bool { return team != own && (own != "" || led > 1) }, nil
}

// WorkerOf returns the id of the live worker of a member of a team, or "".
func WorkerOf(ctx context.Context, tx *registry.Tx, t *registry.Team, member string) (string, error) {
	if member == Leader {
		return t.LeaderWorker, nil
	}
	a, err := live(ctx, tx, member)
	if isGone(err) || err == nil && !a.Lost.IsZero() {
		return "", nil
	}
	return a.WorkerID, err
}
