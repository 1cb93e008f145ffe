package swarm

import (
	"context"
	"time"
)

// Notifier reports events of workers to people or other programs: it posts them to a server,
// sends mail, shows them on a screen. A plugin of the kind "notifier" implements it.
//
// The host delivers each event that the user's filter chooses, in the order of the history, from
// a cursor that outlives all processes. There is one call at a time.
type Notifier interface {
	// Notify delivers one event and says what becomes of it:
	//
	//   - [NotifyAccepted]: it has arrived. The host delivers the next one.
	//   - [NotifyLater]: it can't be delivered now, for example because a server is not reached.
	//     The host delivers it again, and no later event before it. Other notifiers continue.
	//   - [NotifyNever]: it can never be delivered, for example because a server refuses it. The
	//     host drops it, and reports the reason to the user.
	//
	// An error is [NotifyLater] with the text of the error as its reason.
	//
	// An event may be delivered more than once, to another process of the plugin too: if the
	// host ends after the call and before it has recorded the answer, the event comes again with
	// the same ID. An event of a kind that the plugin does not know is delivered as well as its
	// texts allow, or accepted and ignored: it must not hold up the following ones.
	//
	// The host waits 30 seconds for an answer; then ctx ends.
	Notify(ctx context.Context, e Event) (NotifyAnswer, error)
}

// Event is what has happened to a worker.
type Event struct {
	// ID identifies the event permanently, and is never empty: the same whenever the event is
	// delivered again.
	ID string
	// Time is when it happened, which may be long ago.
	Time time.Time
	// Kind is what happened, in capital letters, such as "FAILED", "DIED" or "BLOCKED". There will
	// be kinds that the plugin does not know.
	Kind string
	// Worker and WorkerID are the name and the id of the worker.
	Worker, WorkerID string
	// Text is one line about it, or empty. The worker may have written it: never use it as markup
	// or in a command line.
	Text string
	// Final says that it is the end of the worker.
	Final bool
	// Exit is set with an end whose exit is known.
	Exit *Exit
	// Tags are those of the worker.
	Tags []string
	// On are the words of the user's filter that chose the event, such as "failed" and "ended".
	On []string
	// Attempt is 1 at first, and grows with each delivery whose answer the host has recorded.
	Attempt int
}

// NotifyOutcome says what becomes of an event. An outcome that a reader does not know, and an
// empty one, is [NotifyLater]: an event is not lost because of a mistake.
type NotifyOutcome string

// The outcomes, see [Notifier].
const (
	NotifyAccepted NotifyOutcome = "accepted"
	NotifyLater    NotifyOutcome = "later"
	NotifyNever    NotifyOutcome = "never"
)

// MaxNotifyDelay is the largest delay that a notifier can ask for.
const MaxNotifyDelay = 24 * time.Hour

// NotifyAnswer is the answer to one event.
type NotifyAnswer struct {
	Outcome NotifyOutcome
	// Again is when to deliver the event again, for [NotifyLater]; zero: the host waits longer
	// after each attempt. More than [MaxNotifyDelay] ahead is that much ahead.
	Again time.Time
	// Reason says why, for the user, in one line. Only [NotifyAccepted] can do without one; with
	// one, such as that one of two targets has refused the event, the host reports it.
	Reason string
}

// CheckNotifyAnswer returns an error unless an answer keeps the rules of [Notifier].
func CheckNotifyAnswer(a NotifyAnswer) error {
	switch a.Outcome {
	case NotifyAccepted:
		if a.Again.IsZero() {
			return nil
		}
	case NotifyLater:
		if a.Reason != "" {
			return nil
		}
	case NotifyNever:
		if a.Reason != "" && a.Again.IsZero() {
			return nil
		}
	default:
		return notifyError("the outcome of an event is accepted, later or never")
	}
	if a.Reason == "" && a.Outcome != NotifyAccepted {
		return notifyError("an event that is not accepted needs a reason for the user")
	}
	return notifyError("only an event that is to be delivered later has a time for that")
}

// notifyError is an error about an answer; the contract does not link fmt.
type notifyError string

func (e notifyError) Error() string { return string(e) }
