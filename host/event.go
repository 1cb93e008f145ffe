package host

import (
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// EventKind is what happened to a worker. Readers keep kinds that they do not
// know.
type EventKind string

// The kinds of events. The first five are the ends of workers.
const (
	EventComplete EventKind = "COMPLETE"
	EventExited   EventKind = "EXITED"
	EventFailed   EventKind = "FAILED"
	EventDied     EventKind = "DIED"
	EventKilled   EventKind = "KILLED"

	EventSpawned EventKind = "SPAWNED"
	// EventAdopted: it was found in its engine, where somebody else had spawned it.
	EventAdopted       EventKind = "ADOPTED"
	EventRestarted     EventKind = "RESTARTED"
	EventCrashLoop     EventKind = "CRASH LOOP"
	EventKillRequested EventKind = "KILL REQUESTED"
	EventKept          EventKind = "WORKTREE KEPT"
	// EventRescued: where the work from a workspace is, if nobody could be told.
	EventRescued EventKind = "WORK SAVED"
	// EventRespawnFailed: the worker stays as it was before, ended.
	EventRespawnFailed EventKind = "RESPAWN FAILED"
	EventCleaned       EventKind = "CLEANED"

	// What agents do, as their screens show it: EventBlocked has the question.
	EventBlocked EventKind = "BLOCKED"
	EventIdle    EventKind = "IDLE"
	EventWorking EventKind = "WORKING"

	// EventLimited: a loop waits for the end of its agent's usage limit.
	EventLimited EventKind = "LIMITED"
)

// Event is something that happened to a worker. It outlives the worker's record.
type Event struct {
	// Seq is its place in the history, which is their only order.
	Seq int64
	// Time is when it happened, which may be long before it was written.
	Time time.Time
	// Worker and ID are the worker's name and id.
	Worker, ID string
	Kind       EventKind
	// Text is one line, or empty.
	Text string
	// Final says that it is the end of this worker, which has no other.
	Final bool
	// Previous is the id of the worker whose place this one took, in the
	// [EventSpawned] of a respawn.
	Previous string
	// Exit is set with an end whose exit is known.
	Exit *swarm.Exit
}

// String returns the event as people read it: "[w] COMPLETE: all tests pass".
func (e Event) String() string {
	if e.Text == "" {
		return fmt.Sprintf("[%s] %s", e.Worker, e.Kind)
	}
	return fmt.Sprintf("[%s] %s: %s", e.Worker, e.Kind, e.Text)
}

func event(e registry.Event) Event {
	return Event{
		Seq: e.Seq, Time: e.Time, Worker: e.Worker, ID: e.ID, Kind: EventKind(e.Kind), Text: e.Text,
		Final: e.Final, Previous: e.Previous, Exit: e.Exit,
	}
}
