package team

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/host/registry"
)

// Leader is the leader's id as a member of its team.
const Leader = "leader"

// Caller is the origin of a call. This file alone decides about its rights
// within a team.
type Caller struct {
	// Person says that the caller has neither a token nor a worker above it. A person leads
	// every team.
	Person bool
	// WorkerID is the id of the worker in which the caller runs or whose token it has,
	// empty if there is none.
	WorkerID string
	// Team, Agent, Name and Role are those of the agent that it is. Agent is its id.
	// They are empty if the caller is not an agent, also for a worker that leads a team.
	Team, Agent, Name string
	Role              registry.Role
}

// ByToken returns the caller that has a token with that hash, or [ErrUnknownToken] if it
// does not belong to a live agent.
func ByToken(ctx context.Context, tx *registry.Tx, hash string) (Caller, error) {
	if hash == "" {
		return Caller{}, ErrUnknownToken
	}
	agents, _, err := tx.Agents(ctx, registry.AgentQuery{TokenHash: hash, Live: true})
	if err != nil {
		return Caller{}, err
	}
	if len(agents) == 0 {
		return Caller{}, ErrUnknownToken
	}
	return callerOf(&agents[0]), nil
}

// ByWorker returns the caller in the worker with that id.
func ByWorker(ctx context.Context, tx *registry.Tx, workerID string) (Caller, error) {
	if workerID == "" {
		return Caller{}, errors.New("the worker of the caller has no id")
	}
	agents, _, err := tx.Agents(ctx, registry.AgentQuery{WorkerID: workerID, Live: true})
	if err != nil {
		return Caller{}, err
	}
	if len(agents) == 0 {
		return Caller{WorkerID: workerID}, nil
	}
	return callerOf(&agents[0]), nil
}

func callerOf(a *registry.Agent) Caller {
	return Caller{WorkerID: a.WorkerID, Team: a.Team, Agent: a.ID, Name: a.Name, Role: a.Role}
}

// Member returns the caller's id in a team: an agent's own, and [Leader] for a person and
// for processes in the team's leader worker. The error is [NoTeamError] if the team does
// not exist, and [NotMemberError] if the caller is not, or no longer, a member.
func Member(ctx context.Context, tx *registry.Tx, caller Caller, teamName string) (id string, err error) {
	t, err := Get(ctx, tx, teamName)
	if err != nil {
		return "", err
	}
	if caller.Person || caller.leads(&t) {
		return Leader, nil
	}
	is, err := caller.isAgentOf(ctx, tx, teamName)
	switch {
	case err != nil:
		return "", err
	case !is:
		return "", &NotMemberError{Team: teamName}
	}
	return caller.Agent, nil
}

// Lead returns nil if the caller has the leader's right in a team: a person, a process in
// its leader worker, or an agent with the role leader. All others get a [NotLeaderError]
// with verb, whether they are members or not. The error is [NoTeamError] if the team does
// not exist.
func Lead(ctx context.Context, tx *registry.Tx, caller Caller, teamName, verb string) error {
	t, err := Get(ctx, tx, teamName)
	if err != nil {
		return err
	}
	if caller.Person || caller.leads(&t) {
		return nil
	}
	is, err := caller.isAgentOf(ctx, tx, teamName)
	if err == nil && (!is || caller.Role != registry.RoleLeader) {
		err = &NotLeaderError{Verb: verb}
	}
	return err
}

// isAgentOf reports whether the caller is an agent of a team. It may have ended since it
// was identified.
func (c *Caller) isAgentOf(ctx context.Context, tx *registry.Tx, teamName string) (bool, error) {
	if c.Agent == "" || c.Team != teamName {
		return false, nil
	}
	_, err := live(ctx, tx, c.Agent)
	if isGone(err) {
		return false, nil
	}
	return err == nil, err
}

func (c *Caller) leads(t *registry.Team) bool {
	return !c.Person && c.WorkerID != "" && c.WorkerID == t.LeaderWorker
}

// MayEnd is [Lead] for ending the workers of a team. The workers of a deleted team
// have no leader: any caller may end them.
func MayEnd(ctx context.Context, tx *registry.Tx, caller Caller, teamName string) error {
	err := Lead(ctx, tx, caller, teamName, verbKill)
	if _, none := errors.AsType[*NoTeamError](err); none {
		return nil
	}
	return err
}

// Attend returns an agent of a team that is not terminated, for a caller who leads the
// team: to read the agent's screen, or to type there. In this order, the error is
// [NoTeamError], [NotLeaderError] with verb, [NoAgentError] or [TerminatedError].
func Attend(ctx context.Context, tx *registry.Tx, caller Caller, teamName, who, verb string) (registry.Agent, error) {
	if err := Lead(ctx, tx, caller, teamName, verb); err != nil {
		return registry.Agent{}, err
	}
	a, err := Find(ctx, tx, teamName, who)
	if err == nil && a.Status == registry.AgentTerminated {
		err = &TerminatedError{Agent: who}
	}
	return a, err
}

// verbKill is the verb of most refused calls.
const verbKill = "kill agents"
