package team

import (
	"errors"
	"fmt"
	"strings"
)

// text is an error in the words of the tools.
type text string

func (t text) Error() string { return string(t) }

// Refusals of a call. Users and models see their texts.
var (
	// ErrUnknownToken: the caller's token does not belong to a live agent.
	ErrUnknownToken error = text("Unknown agent token")
	// ErrInShutdown: the agent was asked to end already.
	ErrInShutdown error = text("Agent already in shutdown. Use force=true to override.")
	// ErrKillLeader: the leader can't be ended as an agent.
	ErrKillLeader error = text("Cannot kill the team leader")
	// ErrNoRequest: the agent has no open request to end.
	ErrNoRequest error = text("No shutdown request to respond to")
	// ErrApproved: the agent has approved its end already.
	ErrApproved error = text("Shutdown is already approved")
	// ErrHeartbeatTerminated: the agent is a member no more.
	ErrHeartbeatTerminated error = text("Cannot heartbeat for terminated agent")
	// ErrInactive: the agent's process is gone.
	ErrInactive error = text("Agent is inactive. Requires re-spawn.")
)

// NotLeaderError says that only the leader may do something.
type NotLeaderError struct {
	// Verb is what: "kill agents".
	Verb string
}

func (e *NotLeaderError) Error() string { return "Only the team leader can " + e.Verb }

// NotMemberError says that the caller is not a member of the team.
type NotMemberError struct{ Team string }

func (e *NotMemberError) Error() string { return fmt.Sprintf("Not a member of team '%s'", e.Team) }

// NoTeamError says that there is no such team.
type NoTeamError struct{ Team string }

func (e *NoTeamError) Error() string { return fmt.Sprintf("Team '%s' does not exist", e.Team) }

// LiveAgentsError names the agents that keep a team from being deleted.
type LiveAgentsError struct {
	Team string
	// Agents are names.
	Agents []string
}

func (e *LiveAgentsError) Error() string {
	return fmt.Sprintf("Team '%s' has %d live agent(s): %s", e.Team, len(e.Agents), strings.Join(e.Agents, ", "))
}

// NoAgentError says that there is no such agent.
type NoAgentError struct {
	// Agent is the requested id or name.
	Agent string
	// InTeam is the searched team, if the error is to name it.
	InTeam string
}

func (e *NoAgentError) Error() string {
	if e.InTeam != "" {
		return fmt.Sprintf("Agent '%s' not found in team '%s'", e.Agent, e.InTeam)
	}
	return fmt.Sprintf("Agent '%s' not found", e.Agent)
}

// TerminatedError says that the agent has already ended.
type TerminatedError struct{ Agent string }

func (e *TerminatedError) Error() string {
	return fmt.Sprintf("Agent '%s' is already terminated", e.Agent)
}

// UnprovenError says that the caller could be an agent or a person, and therefore has no
// rights of either.
type UnprovenError struct{ Why string }

func (e *UnprovenError) Error() string { return "Cannot identify the caller: " + e.Why }

// CommandText returns the text of an error of this package as commands print it: it begins
// in lower case, as all their errors do. ok is false for any other error, and for one whose
// text the specification of the tools fixes.
func CommandText(err error) (words string, ok bool) {
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e.(type) { //nolint:errorlint // the loop unwraps
		case text:
			if errors.Is(e, ErrUnknownToken) || errors.Is(e, ErrInShutdown) || errors.Is(e, ErrKillLeader) {
				return "", false
			}
		case *refusal, *LiveAgentsError, *UnprovenError:
		default:
			continue
		}
		// An error around it may have words of its own before these.
		words := err.Error()
		return strings.ToLower(words[:1]) + words[1:], words == e.Error()
	}
	return "", false
}

// Refusals that concern names, tasks and messages.
var (
	ErrInvalid     = errors.New("invalid input")
	ErrUnavailable = errors.New("the task can't be claimed")
	ErrCycle       = errors.New("the dependencies form a circle")
	ErrNoRecipient = errors.New("no such recipient")
	// ErrName: the name of a team or an agent is invalid or taken.
	ErrName = errors.New("no such name can be given")
)

// How long texts can be, in bytes.
const (
	maxTitle = 1 << 10
	maxText  = 256 << 10
)

type refusal struct {
	kind error
	text string
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.kind }

func refuse(kind error, format string, args ...any) error {
	return &refusal{kind: kind, text: fmt.Sprintf(format, args...)}
}
