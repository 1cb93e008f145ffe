package team

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// Entry is an agent that is about to begin.
type Entry struct {
	Team, ID string
	// Name is its name in the team; empty: its id.
	Name string
	// Role is empty for a worker.
	Role  registry.Role
	Model string
	// Session is empty for the id of its worker.
	Session     string
	Dir, Prompt string
}

// Join enters an agent as spawning, with a colour, in the transaction that enters the
// record of its worker. The caller has been checked with [Lead]. The warning is empty or
// says that the colour is shared.
func Join(ctx context.Context, tx *registry.Tx, j Entry, workerID, worker, tokenHash string, now time.Time) (a registry.Agent, warning string, err error) {
	if _, err := Get(ctx, tx, j.Team); err != nil {
		return a, "", err
	}
	a = registry.Agent{
		ID: j.ID, Team: j.Team, Name: j.Name, Role: j.Role, Model: j.Model, Session: j.Session, Dir: j.Dir, Prompt: j.Prompt,
		Status: registry.AgentSpawning, WorkerID: workerID, Worker: worker, TokenHash: tokenHash, Created: now, Heartbeat: now, ColorUsed: now,
	}
	if a.Name == "" {
		a.Name = a.ID
	}
	if a.Role == "" {
		a.Role = registry.RoleWorker
	}
	if a.Session == "" {
		a.Session = workerID
	}
	if err := CheckAgentName(a.Name); err != nil {
		return a, "", err
	}
	all, _, err := tx.Agents(ctx, registry.AgentQuery{Team: j.Team})
	if err != nil {
		return a, "", err
	}
	for _, o := range all {
		// An id must not be changed, even if it is used as a name.
		if o.ID == a.ID || o.Name == a.ID {
			return a, "", taken(a.ID, j.Team)
		}
		if o.ID == a.Name || o.Name == a.Name && o.Status != registry.AgentTerminated {
			return a, "", taken(a.Name, j.Team)
		}
	}
	live := slices.DeleteFunc(all, func(o registry.Agent) bool { return o.Status == registry.AgentTerminated })
	a.Color, warning = pickColor(live)
	err = tx.InsertAgent(ctx, &a)
	if errors.Is(err, registry.ErrExists) {
		err = taken(a.ID, j.Team)
	}
	return a, warning, err
}

// taken is the error for an agent whose id or name another one has.
func taken(agent, team string) error {
	return refuse(ErrName, "Agent '%s' already exists in team '%s'", agent, team)
}

// Activate makes a spawning agent active, or idle if it said so already, in the transaction
// that says that its worker runs. Pane is where its screen is, or empty. The error is
// [TerminatedError] if the agent was ended meanwhile; its worker has to be ended then.
func Activate(ctx context.Context, tx *registry.Tx, agentID, pane string, now time.Time) error {
	a, err := live(ctx, tx, agentID)
	if err != nil {
		return err
	}
	a.Pane, a.Heartbeat = pane, now
	switch {
	case a.Status == registry.AgentSpawning:
		a.Status, a.Before = awake(a.Before), ""
	case a.Before == registry.AgentSpawning: // it was asked to end already
		a.Before = registry.AgentActive
	}
	return tx.PutAgent(ctx, &a)
}

// Unjoin undoes [Join] when the worker could not be started. It does nothing to an
// agent that was terminated meanwhile, nor if there is none.
func Unjoin(ctx context.Context, tx *registry.Tx, agentID string, now time.Time) error {
	a, err := live(ctx, tx, agentID)
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	// It may have claimed something before its start failed.
	if _, err := giveBack(ctx, tx, a.Team, a.ID, now); err != nil {
		return err
	}
	if err := tx.Unassign(ctx, registry.Membership{Team: a.Team, Member: a.ID}); err != nil {
		return err
	}
	return tx.DeleteAgent(ctx, agentID)
}

// Rejoin gives an agent a new worker and a new token, in the transaction that
// enters the record of the worker. It is spawning then, and keeps its colour and
// its tasks; a request to end is off. A terminated agent is [TerminatedError].
func Rejoin(ctx context.Context, tx *registry.Tx, agentID, workerID, worker, tokenHash string, now time.Time) error {
	a, err := live(ctx, tx, agentID)
	if err != nil {
		return err
	}
	if a.Status == registry.AgentShuttingDown {
		if err := callOff(ctx, tx, agentID, now); err != nil {
			return err
		}
	}
	if a.Session == a.WorkerID {
		a.Session = workerID
	}
	a.Status, a.Before, a.Lost = registry.AgentSpawning, "", time.Time{}
	a.WorkerID, a.Worker, a.TokenHash, a.Pane, a.Heartbeat = workerID, worker, tokenHash, "", now
	a.Rotations++
	// Its new process has got no messages yet.
	if err := tx.BringAgain(ctx, registry.Membership{Team: a.Team, Member: a.ID}); err != nil {
		return err
	}
	return tx.PutAgent(ctx, &a)
}

// Abandon undoes [Rejoin] when the new worker could not be started: the agent has
// its old one again, whose process is gone, see [Lost].
func Abandon(ctx context.Context, tx *registry.Tx, agentID, oldWorkerID, oldWorker, reason string, now time.Time) (warnings []string, err error) {
	a, err := live(ctx, tx, agentID)
	if hasEnded(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if a.Session == a.WorkerID {
		a.Session = oldWorkerID
	}
	a.WorkerID, a.Worker, a.TokenHash = oldWorkerID, oldWorker, ""
	a.Rotations--
	if err := tx.PutAgent(ctx, &a); err != nil {
		return nil, err
	}
	return Lost(ctx, tx, agentID, reason, now)
}

// Find returns an agent of a team by its id or its name. A name means the live agent of
// that name, or else the last one that had it. The error is [NoTeamError] or [NoAgentError]
// if there is none.
func Find(ctx context.Context, tx *registry.Tx, teamName, who string) (registry.Agent, error) {
	if _, err := Get(ctx, tx, teamName); err != nil {
		return registry.Agent{}, err
	}
	all, warnings, err := tx.Agents(ctx, registry.AgentQuery{Team: teamName})
	if err != nil {
		return registry.Agent{}, err
	}
	found := -1
	for i, a := range all {
		if a.ID == who {
			return a, nil
		}
		if a.Name == who {
			found = i // only the last one that joined can be live
		}
	}
	if found >= 0 {
		return all[found], nil
	}
	if len(warnings) > 0 && who != "" {
		// It may be there, and only not be readable.
		if _, err := tx.Agent(ctx, who); err != nil && !errors.Is(err, registry.ErrNotFound) {
			return registry.Agent{}, err
		}
	}
	return registry.Agent{}, &NoAgentError{Agent: who}
}

// live returns an agent that is not terminated: [TerminatedError] if it is.
func live(ctx context.Context, tx *registry.Tx, agentID string) (registry.Agent, error) {
	a, err := tx.Agent(ctx, agentID)
	if err == nil && a.Status == registry.AgentTerminated {
		err = &TerminatedError{Agent: agentID}
	}
	return a, err
}

func hasEnded(err error) bool {
	_, over := errors.AsType[*TerminatedError](err)
	return over
}

// isGone reports whether an error of [live] says that the agent has ended or does not exist.
func isGone(err error) bool { return errors.Is(err, registry.ErrNotFound) || hasEnded(err) }

var colors = []string{
	"#FF6B6B", "#4ECDC4", "#45B7D1", "#96CEB4", "#FFEAA7",
	"#DDA0DD", "#98D8C8", "#F7DC6F", "#BB8FCE", "#85C1E9",
}

// pickColor returns the colour of a new agent of a team: the first unused one. If all are
// used, it is the one that an inactive agent, or else any agent, got longest ago; warning
// says so.
func pickColor(live []registry.Agent) (color, warning string) {
	// A colour that several have was used when the last of them got it, and is out
	// of use if all of them are.
	type use struct {
		at   time.Time
		away bool
	}
	uses := map[string]use{}
	for _, a := range live {
		u, known := uses[a.Color]
		if !known || a.ColorUsed.After(u.at) {
			u.at = a.ColorUsed
		}
		u.away = (!known || u.away) && a.Status == registry.AgentInactive
		uses[a.Color] = u
	}
	color = colors[0]
	for _, c := range colors {
		u, used := uses[c]
		if !used {
			return c, ""
		}
		if best := uses[color]; u.away && !best.away || u.away == best.away && u.at.Before(best.at) {
			color = c
		}
	}
	return color, fmt.Sprintf("All %d colors are in use; %s is used twice", len(colors), color)
}
