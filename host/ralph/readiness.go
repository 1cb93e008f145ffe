package ralph

import (
	"regexp"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/ready"
)

// How long an agent must have written nothing to be taken for ready.
const (
	// silent is for an agent that has written nothing at all.
	silent = 2 * time.Second
	// unsure is for an agent without a known prompt on its screen, sure for one with a
	// known prompt.
	unsure = time.Second
	sure   = 200 * time.Millisecond
	// settled is the time after the prompt at which its output counts as complete.
	settled = 500 * time.Millisecond
	// readyLimit is the time after which an agent gets its prompt even if it never stops
	// writing.
	readyLimit = 30 * time.Second
)

type readiness struct {
	pattern *regexp.Regexp
	// waiting says that the prompt has not been given.
	waiting bool
	// looked says that the last output was checked and shows no known prompt.
	looked bool
}

func newReadiness(pattern *regexp.Regexp) readiness {
	return readiness{pattern: pattern, waiting: true}
}

func (r *readiness) wrote() { r.looked = false }

// calm is called when nothing was written for a moment, with the lines that the agent
// shows. It returns how much longer nothing must be written; 0: the agent is ready.
func (r *readiness) calm(lines []string) time.Duration {
	switch {
	case r.pattern != nil && !r.pattern.MatchString(strings.Join(lines, "\n")):
		// The pattern says what to wait for.
		return readyLimit
	case r.pattern != nil, r.looked, len(lines) == 0, ready.Lines(lines):
		return 0
	default:
		r.looked = true
		return unsure - sure
	}
}

// question returns the dialog on the agent's screen that a person must answer, or "".
func (r *readiness) question(lines []string) string {
	if r.pattern != nil {
		return ""
	}
	return ready.Question(lines)
}
