package dash

import (
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Urgency says how much a worker needs a person. The lowest comes first.
type Urgency int

// The urgencies of workers.
const (
	// Attention: its agent asks something, or shows an error.
	Attention Urgency = iota
	// CrashLoop: its restart policy gave it up.
	CrashLoop
	// Lost: its exit will never be known, or its backend can't be asked.
	Lost
	// Failed: it ended badly, and nobody has looked at it since.
	Failed
	// Running: it runs, or is about to.
	Running
	// Ended: it ended, and nothing is to be done.
	Ended
)

// String returns the urgency in one or two words.
func (u Urgency) String() string {
	switch u {
	case Attention:
		return "needs you"
	case CrashLoop:
		return "crash loop"
	case Lost:
		return "lost"
	case Failed:
		return "failed"
	case Running:
		return "running"
	default:
		return "ended"
	}
}

// State is how a worker is, in a word.
type State struct {
	// Word is "running", "exited 3" or "crash loop".
	Word    string
	Urgency Urgency
	// Since is when it began to be so; zero if that is not known.
	Since time.Time
}

// stateOf returns the state of a worker. seen says that somebody has looked at its end.
func stateOf(w *host.Worker, seen bool) State {
	switch w.Status {
	case host.StatusStarting:
		return State{"starting", Running, w.Created}
	case host.StatusRunning:
		return runningState(w)
	case host.StatusStopped:
		return endedState(w, seen)
	case host.StatusLost:
		return State{"lost", Lost, w.Ended}
	default:
		return State{"unknown", Lost, time.Time{}}
	}
}

func runningState(w *host.Worker) State {
	if w.PID == 0 && w.Reason != "" && w.Restart.When != swarm.RestartNo {
		return State{"restarting", Running, time.Time{}}
	}
	if s := w.State; s != nil {
		switch {
		case s.State == profile.Blocked:
			return State{"asks", Attention, s.Since}
		case s.Broken != "":
			return State{"error", Attention, s.Since}
		case s.State == profile.Working || s.State == profile.Idle:
			since := s.Since
			if since.IsZero() {
				since = w.Started
			}
			return State{string(s.State), Running, since}
		}
	}
	return State{"running", Running, w.Started}
}

func endedState(w *host.Worker, seen bool) State {
	e := w.Exit
	bad := func(word string) State {
		if seen {
			return State{word, Ended, w.Ended}
		}
		return State{word, Failed, w.Ended}
	}
	switch {
	case w.Completion != nil || e != nil && e.Cause == swarm.CauseCompleted:
		return State{"completed", Ended, w.Ended}
	case e == nil:
		return bad("failed")
	case e.Cause == swarm.CauseCrashLoop:
		return State{"crash loop", CrashLoop, w.Ended}
	case e.Cause == swarm.CauseKilled || e.Cause == swarm.CauseOwner:
		return State{"killed", Ended, w.Ended}
	case e.Cause == swarm.CauseNotStarted || e.Signal == "" && e.Code < 0:
		return bad("not started")
	case e.Signal != "":
		return bad(e.Signal)
	case e.Code != 0:
		return bad(fmt.Sprintf("exited %d", e.Code))
	default:
		return State{"exited", Ended, w.Ended}
	}
}
