package ralph

import (
	"regexp"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/ready"
)

// How long an agent must have written nothing to be taken for ready.
const (
	// silent is for one that has written nothing at all.
	silent = 2 * time.Second
	// unsure is for one that shows nothing known, sure for one that does.
	unsure = time.Second
	sure   = 200 * time.Millisecond
	// settled is after the prompt: what it wrote by then is all for now.
	settled = 500 * time.Millisecond
	// readyLimit is when an agent gets its prompt although it never stops writing.
	readyLimit = 30 * time.Second
)

// readiness tells from what an agent writes whether it waits for its prompt.
type readiness struct {
	pattern *regexp.Regexp
	// waiting says that the prompt has not been given.
	waiting bool
	// looked says that what was written last shows nothing known.
	looked bool
}

func newReadiness(pattern *regexp.Regexp) readiness {
	return readiness{pattern: pattern, waiting: true}
}

// wrote is called when the agent has written something.
func (r *readiness) wrote() { r.looked = false }

// calm is called when nothing was written for a moment, with the lines that the agent
// shows. It returns how much longer nothing must be written; 0: the agent is ready.
func (r *readiness) calm(lines []string) time.Duration {
	switch {
	case r.pattern != nil && !r.pattern.MatchString(strings.Join(lines, "\n")):
		// It says what to wait for.
		return readyLimit
	case r.pattern != nil, r.looked, len(lines) == 0, ready.Lines(lines):
		return 0
	default:
		r.looked = true
		return unsure - sure
	}
}

// question returns the dialog that the agent shows and a person must answer; empty:
// there is none.
func (r *readiness) question(lines []string) string {
	if r.pattern != nil {
		return ""
	}
	return ready.Question(lines)
}
