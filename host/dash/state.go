package dash

import (
	"time"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/worker"
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
	// Failed: it ended badly, and no person has seen it since, see [Board.See].
	Failed
	// Running: it runs, or is about to.
	Running
	// Ended: it ended, and nothing is to be done.
	Ended
)

// urgencies are the words for each urgency, and a condition that is shown in the same way.
var urgencies = [...]struct {
	word string
	kind condition.Kind
}{
	Attention: {"needs you", condition.Blocked},
	CrashLoop: {"crash loop", condition.CrashLoop},
	Lost:      {"lost", condition.Lost},
	Failed:    {"failed", condition.Failed},
	Running:   {"running", condition.Running},
	Ended:     {"ended", condition.Succeeded},
}

// Urgencies returns all urgencies, the highest first.
func Urgencies() []Urgency { return []Urgency{Attention, CrashLoop, Lost, Failed, Running, Ended} }

func (u Urgency) String() string { return urgencies[u].word }

// Kind returns a condition with the tone and the symbol of the urgency.
func (u Urgency) Kind() condition.Kind { return urgencies[u].kind }

// State is how a worker is, in a word.
type State struct {
	// Word is "running", "exited 3" or "crash loop".
	Word string
	// Urgency is that of the worker's row: [Ended] for one that failed and was seen.
	Urgency Urgency
	// Since is when it began to be so; zero if that is not known.
	Since time.Time
}

// stateOf returns the state of a worker, in the words of [condition.Of]. seen says that a
// person has seen its end.
func stateOf(w *worker.Worker, seen bool) State {
	c := condition.Of(*w)
	s := State{Word: c.Text, Since: c.Since, Urgency: urgencyOf(c.Kind)}
	if s.Urgency == Failed && seen {
		s.Urgency = Ended
	}
	return s
}

func urgencyOf(k condition.Kind) Urgency {
	switch k {
	case condition.Blocked, condition.Broken, condition.Limited:
		return Attention
	case condition.CrashLoop:
		return CrashLoop
	case condition.Lost, condition.Unknown:
		return Lost
	case condition.Failed:
		return Failed
	case condition.Restarting, condition.Starting, condition.Paused, condition.Idle, condition.Background, condition.Compacting, condition.Working, condition.Running:
		return Running
	default:
		return Ended
	}
}
