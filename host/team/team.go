package team

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// How long names can be: a worker is called by that of its team, a hyphen, and that
// of its agent.
const (
	maxName      = 32
	maxAgentName = 31
)

// reserved are what no agent can be called, because they have another meaning.
var reserved = []string{Leader, All, system}

// system is the sender of swarm's own messages.
const system = "system"

// CheckName returns nil if a team can be called so, else an [ErrName]. Names are
// those of workers, but without dots.
func CheckName(name string) error {
	if len(name) > maxName || !swarm.ValidName(name) || strings.Contains(name, ".") {
		return refuse(ErrName, "Invalid team name %q: Team name must be alphanumeric with hyphens/underscores", name)
	}
	return nil
}

// CheckAgentName is like [CheckName], for an agent.
func CheckAgentName(name string) error {
	if len(name) > maxAgentName || !swarm.ValidName(name) || slices.Contains(reserved, name) {
		return refuse(ErrName, "Invalid agent name %q: Agent name must be 1 to %d letters, digits, dots, hyphens or underscores, begin with a letter or digit, and not be one of %s",
			name, maxAgentName, strings.Join(reserved, ", "))
	}
	return nil
}

// New is a team that is to be made.
type New struct {
	Name, Description string
	// Server is the server that it is to have, or nil.
	Server *registry.Server
}

// Create creates a team, which the caller leads: the processes in its worker, or people.
// The error is [ErrName] if the name is invalid or taken.
func Create(ctx context.Context, tx *registry.Tx, caller Caller, n New, now time.Time) (registry.Team, error) {
	if err := CheckName(n.Name); err != nil {
		return registry.Team{}, err
	}
	t := registry.Team{Name: n.Name, Description: clean(n.Description), LeaderWorker: caller.WorkerID, Server: n.Server, Created: now}
	err := tx.InsertTeam(ctx, &t)
	if errors.Is(err, registry.ErrExists) {
		err = refuse(ErrName, "Team '%s' already exists", n.Name)
	}
	return t, err
}

// Get returns a team, or [NoTeamError] if none has that name.
func Get(ctx context.Context, tx *registry.Tx, name string) (registry.Team, error) {
	t, err := tx.Team(ctx, name)
	if errors.Is(err, registry.ErrNotFound) {
		err = &NoTeamError{Team: name}
	}
	return t, err
}

// Empty returns nil if all agents of a team are terminated, but that with the id but
// if it is not empty: [LiveAgentsError] else.
func Empty(ctx context.Context, tx *registry.Tx, name, but string) error {
	live, err := tx.Members(ctx, name)
	e := &LiveAgentsError{Team: name}
	for _, a := range live {
		if a.ID != but {
			e.Agents = append(e.Agents, a.Name)
		}
	}
	if err != nil || len(e.Agents) == 0 {
		return err
	}
	return e
}

// Delete removes a team with everything in it. Only its leader may do so, and only once it
// is [Empty] except for the caller.
func Delete(ctx context.Context, tx *registry.Tx, caller Caller, name string) error {
	if err := Lead(ctx, tx, caller, name, "delete the team"); err != nil {
		return err
	}
	if err := Empty(ctx, tx, name, caller.Agent); err != nil {
		return err
	}
	return tx.DeleteTeam(ctx, name)
}

// Moved records that a worker has a new id, as after a respawn: processes in it still lead
// their teams, and a server stays the server. [Rejoin] does so for an agent.
func Moved(ctx context.Context, tx *registry.Tx, oldWorkerID, newWorkerID string) error {
	teams, _, err := tx.Teams(ctx)
	if err != nil || oldWorkerID == "" {
		return err
	}
	for _, t := range teams {
		leads, serves := t.LeaderWorker == oldWorkerID, t.Server != nil && t.Server.WorkerID == oldWorkerID
		if !leads && !serves {
			continue
		}
		if leads {
			t.LeaderWorker = newWorkerID
		}
		if serves {
			t.Server.WorkerID = newWorkerID
		}
		if err := tx.PutTeam(ctx, &t); err != nil {
			return err
		}
	}
	return nil
}
