package team

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/humane"
)

// Target returns the agent of a team that the caller may end. In this order it is
// [NoTeamError], [NotLeaderError], [ErrKillLeader], [NoAgentError] or
// [TerminatedError] if it may not.
func Target(ctx context.Context, tx *registry.Tx, caller Caller, teamName, who string) (registry.Agent, error) {
	if err := Lead(ctx, tx, caller, teamName, verbKill); err != nil {
		return registry.Agent{}, err
	}
	if who == Leader {
		return registry.Agent{}, ErrKillLeader
	}
	a, err := Find(ctx, tx, teamName, who)
	switch {
	case err != nil:
		return registry.Agent{}, err
	case a.Status == registry.AgentTerminated:
		return a, &TerminatedError{Agent: who}
	case a.Role == registry.RoleLeader:
		return a, ErrKillLeader
	}
	return a, nil
}

// Ask asks an agent to end: it is shutting_down from now on, and has the request in its
// inbox. The returned shutdown is [Requested]; or [Rejected], if the agent rejected an
// earlier one that was not reported yet: then there is no new request. It fails like
// [Target], with [ErrInShutdown] while a request is open, and with [ErrInactive] if the
// agent's process is gone and can't answer.
func Ask(ctx context.Context, tx *registry.Tx, caller Caller, teamName, who, reason string, now time.Time) (registry.Agent, registry.Shutdown, error) {
	a, err := Target(ctx, tx, caller, teamName, who)
	if err != nil {
		return a, registry.Shutdown{}, err
	}
	switch {
	case a.Status == registry.AgentShuttingDown:
		return a, registry.Shutdown{}, ErrInShutdown
	case !a.Lost.IsZero():
		return a, registry.Shutdown{}, ErrInactive
	}
	last, err := tx.LastShutdown(ctx, a.ID)
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return a, registry.Shutdown{}, err
	}
	if err == nil && last.Phase == registry.ShutdownRejected && !last.Answered {
		last.Answered = true
		return a, last, errors.Join(tx.PutShutdown(ctx, &last), Touch(ctx, tx, caller, now))
	}
	requester, err := Member(ctx, tx, caller, teamName)
	if err == nil {
		err = checkReason(reason)
	}
	if err != nil {
		return a, registry.Shutdown{}, err
	}
	s := registry.Shutdown{Team: teamName, AgentID: a.ID, Requester: requester, Reason: clean(reason), Phase: registry.ShutdownRequested, Requested: now}
	if err := tx.InsertShutdown(ctx, &s); err != nil {
		return a, s, err
	}
	a.Before, a.Status = a.Status, registry.AgentShuttingDown
	if err := tx.PutAgent(ctx, &a); err != nil {
		return a, s, err
	}
	if err := notify(ctx, tx, &s, requester, a.ID, registry.MessageShutdownRequest, now); err != nil {
		return a, s, err
	}
	return a, s, Touch(ctx, tx, caller, now)
}

// Approve is the caller's answer that it is going to end. Without ready the caller
// continues until it is ready, and the requester gets a message. With ready, [Release]
// follows and sends it. The error is [ErrNoRequest] without a request.
func Approve(ctx context.Context, tx *registry.Tx, caller Caller, teamName string, ready bool, reason string, now time.Time) (registry.Agent, registry.Shutdown, error) {
	a, s, err := asked(ctx, tx, caller, teamName)
	if err == nil {
		err = checkReason(reason)
	}
	if err != nil {
		return a, s, err
	}
	first := s.Phase == registry.ShutdownRequested
	s.Phase, s.Responded = registry.ShutdownApproved, now
	if reason != "" {
		s.Response = clean(reason)
	}
	if err := tx.PutShutdown(ctx, &s); err != nil {
		return a, s, err
	}
	if first && !ready {
		if err := answer(ctx, tx, &s, now); err != nil {
			return a, s, err
		}
	}
	return a, s, Touch(ctx, tx, caller, now)
}

// Reject is the caller's answer that it does not end: it gets its previous status back, and
// the requester gets the reason. The error is [ErrNoRequest] without a request and
// [ErrApproved] if the caller has approved.
func Reject(ctx context.Context, tx *registry.Tx, caller Caller, teamName, reason string, now time.Time) (registry.Agent, registry.Shutdown, error) {
	a, s, err := asked(ctx, tx, caller, teamName)
	if err == nil && s.Phase == registry.ShutdownApproved {
		err = ErrApproved
	}
	if err == nil {
		err = checkReason(reason)
	}
	if err != nil {
		return a, s, err
	}
	s.Phase, s.Responded, s.Completed, s.Response = registry.ShutdownRejected, now, now, clean(reason)
	if err := tx.PutShutdown(ctx, &s); err != nil {
		return a, s, err
	}
	// To answer is a sign of life.
	a.Status, a.Before, a.Heartbeat = awake(a.Before), "", now
	if err := tx.PutAgent(ctx, &a); err != nil {
		return a, s, err
	}
	return a, s, answer(ctx, tx, &s, now)
}

// Answered records that the requester of an end knows the answer by other means than [Ask].
func Answered(ctx context.Context, tx *registry.Tx, agentID string) error {
	s, err := tx.LastShutdown(ctx, agentID)
	if errors.Is(err, registry.ErrNotFound) {
		return nil
	}
	if err != nil || s.Answered {
		return err
	}
	s.Answered = true
	return tx.PutShutdown(ctx, &s)
}

func checkReason(reason string) error {
	if len(reason) > maxText {
		return refuse(ErrInvalid, "Reason has %d bytes, more than %d", len(reason), maxText)
	}
	return nil
}

// asked returns the agent that the caller is, and the request that it can answer.
func asked(ctx context.Context, tx *registry.Tx, caller Caller, teamName string) (registry.Agent, registry.Shutdown, error) {
	member, err := Member(ctx, tx, caller, teamName)
	if err != nil {
		return registry.Agent{}, registry.Shutdown{}, err
	}
	if member == Leader {
		return registry.Agent{}, registry.Shutdown{}, ErrNoRequest
	}
	a, err := live(ctx, tx, member)
	if err != nil {
		return a, registry.Shutdown{}, err
	}
	s, open, err := request(ctx, tx, a.ID)
	if err == nil && !open {
		err = ErrNoRequest
	}
	return a, s, err
}

func request(ctx context.Context, tx *registry.Tx, agentID string) (s registry.Shutdown, open bool, err error) {
	s, err = tx.LastShutdown(ctx, agentID)
	if errors.Is(err, registry.ErrNotFound) {
		return s, false, nil
	}
	return s, s.Phase == registry.ShutdownRequested || s.Phase == registry.ShutdownApproved, err
}

// callOff ends a request that needs no answer any more.
func callOff(ctx context.Context, tx *registry.Tx, agentID string, now time.Time) error {
	s, open, err := request(ctx, tx, agentID)
	if err != nil || !open {
		return err
	}
	s.Phase, s.Completed, s.Answered, s.Response = registry.ShutdownRejected, now, true, "The agent was started again"
	return tx.PutShutdown(ctx, &s)
}

// awake is the status of an agent that was in another one and shows that it lives.
func awake(before registry.AgentStatus) registry.AgentStatus {
	if before == registry.AgentIdle {
		return registry.AgentIdle
	}
	return registry.AgentActive
}

// note is the body of a message about a shutdown.
type note struct {
	ID        string                 `json:"id"`
	Requester string                 `json:"requesterAgentId"`
	Target    string                 `json:"targetAgentId"`
	Team      string                 `json:"teamName"`
	Reason    string                 `json:"reason,omitempty"`
	Phase     registry.ShutdownPhase `json:"phase"`
	// Approved occurs only in answers.
	Approved  *bool            `json:"approved,omitempty"`
	Force     bool             `json:"force"`
	Requested humane.Timestamp `json:"requestedAt"`
	Responded humane.Timestamp `json:"respondedAt,omitzero"`
	Response  string           `json:"responseReason,omitempty"`
}

// answer sends the result to the requester, or to the leader if the requester is no longer
// a member.
func answer(ctx context.Context, tx *registry.Tx, s *registry.Shutdown, now time.Time) error {
	to := s.Requester
	if _, err := live(ctx, tx, to); err != nil {
		to = Leader
	}
	return notify(ctx, tx, s, s.AgentID, to, registry.MessageShutdownApproved, now)
}

func notify(ctx context.Context, tx *registry.Tx, s *registry.Shutdown, from, to string, kind registry.MessageType, now time.Time) error {
	n := note{
		ID: strconv.FormatInt(s.ID, 10), Requester: s.Requester, Target: s.AgentID, Team: s.Team, Reason: s.Reason,
		Phase: s.Phase, Force: s.Forced, Response: s.Response,
		Requested: humane.At(s.Requested), Responded: humane.At(s.Responded),
	}
	if kind == registry.MessageShutdownApproved {
		n.Approved = new(s.Phase != registry.ShutdownRejected)
	}
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return tx.AddMessage(ctx, &registry.Message{Team: s.Team, Sender: from, Recipient: to, Type: kind, Body: string(body), Time: now})
}
