package team

import (
	"context"

	"github.com/swarmhost/swarm/host/registry"
)

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
