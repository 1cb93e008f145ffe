package rundir

import (
	"strconv"
	"strings"
)

// The values of Restart.When.
const (
	RestartOnFailure = "on-failure"
	RestartAlways    = "always"
)

// Restart is a restart policy, see [github.com/swarmhost/swarm/shared/swarm.Restart].
// Nothing in it has a default here.
type Restart struct {
	// When is one of the values above, or empty.
	When string
	// The delays and the window are in milliseconds.
	MinMS, MaxMS int64
	Budget       int
	WindowMS     int64
}

// String returns the policy as the launch file has it; empty if it is never.
func (r Restart) String() string {
	if r.When == "" {
		return ""
	}
	return r.When + " " + strconv.FormatInt(r.MinMS, 10) + " " + strconv.FormatInt(r.MaxMS, 10) +
		" " + strconv.Itoa(r.Budget) + " " + strconv.FormatInt(r.WindowMS, 10)
}

func parseRestart(value string) (Restart, bool) {
	words := strings.Split(value, " ")
	if len(words) != 5 {
		return Restart{}, false
	}
	r := Restart{When: words[0]}
	var n [4]int64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(words[i+1], 10, 64); err != nil || n[i] < 0 || n[i] > maxGraceMS {
			return Restart{}, false
		}
	}
	r.MinMS, r.MaxMS, r.Budget, r.WindowMS = n[0], n[1], int(n[2]), n[3]
	return r, r.When == RestartOnFailure || r.When == RestartAlways
}
