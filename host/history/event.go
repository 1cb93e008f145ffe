package history

import (
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Kind is what happened to a worker. Readers keep kinds that they do not
// know.
type Kind string

// The kinds of events. The first five are the ends of workers.
const (
	Complete Kind = "COMPLETE"
	Exited   Kind = "EXITED"
	Failed   Kind = "FAILED"
	Died     Kind = "DIED"
	Killed   Kind = "KILLED"

	Spawned Kind = "SPAWNED"
	// Adopted: it was found in its engine, where another host had spawned it.
	Adopted       Kind = "ADOPTED"
	Restarted     Kind = "RESTARTED"
	CrashLoop     Kind = "CRASH LOOP"
	KillRequested Kind = "KILL REQUESTED"
	Kept          Kind = "WORKTREE KEPT"
	// Rescued: the place of work that was saved from a workspace when no caller could be
	// told.
	Rescued Kind = "WORK SAVED"
	// RespawnFailed says that the worker could not be started again; it stays ended.
	RespawnFailed Kind = "RESPAWN FAILED"
	// Resurrected: it ended with the machine, and is started again.
	Resurrected Kind = "RESURRECTED"
	Cleaned     Kind = "CLEANED"

	// These are the states of agents, as their screens show them; the text of Blocked is
	// the question.
	Blocked Kind = "BLOCKED"
	Idle    Kind = "IDLE"
	Working Kind = "WORKING"
	// Answered: swarm answered the agent's question for a caller; the text is the question and
	// the choice.
	Answered Kind = "ANSWERED"

	// Limited: a loop waits for the end of its agent's usage limit.
	Limited Kind = "LIMITED"
)

// Event is something that happened to a worker. It outlives the worker's record.
type Event struct {
	// Seq is its place in the history, which is their only order.
	Seq int64
	// Time is when it happened, which may be long before it was written.
	Time time.Time
	// Worker and ID are the worker's name and id.
	Worker, ID string
	Kind       Kind
	// Text is one line, or empty.
	Text string
	// Final says that it is the end of this worker; a worker has one final event.
	Final bool
	// Previous is the id of the replaced worker, in the [Spawned] of a respawn.
	Previous string
	// Exit is set with an end whose exit is known.
	Exit *swarm.Exit
	// Tags are those that the worker had; nil for an event of an older version.
	Tags []string
}

// String returns the event as people read it: "[w] COMPLETE: all tests pass".
func (e Event) String() string {
	if e.Text == "" {
		return fmt.Sprintf("[%s] %s", e.Worker, e.Kind)
	}
	return fmt.Sprintf("[%s] %s: %s", e.Worker, e.Kind, e.Text)
}

func FromRow(e registry.Event) Event {
	return Event{
		Seq: e.Seq, Time: e.Time, Worker: e.Worker, ID: e.ID, Kind: Kind(e.Kind), Text: e.Text,
		Final: e.Final, Previous: e.Previous, Exit: e.Exit, Tags: e.Tags,
	}
}
