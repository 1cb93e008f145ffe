package rundir

import (
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// restartText returns a restart policy in the format of the launch file, with times in
// milliseconds; empty if there is none. It applies no defaults.
func restartText(r swarm.Restart) string {
	if r.When == swarm.RestartNo {
		return ""
	}
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	return strings.Join([]string{string(r.When), ms(r.MinDelay), ms(r.MaxDelay), strconv.Itoa(r.Budget), ms(r.Window)}, " ")
}

func parseRestart(value string) (swarm.Restart, bool) {
	words := strings.Split(value, " ")
	if len(words) != 5 {
		return swarm.Restart{}, false
	}
	var n [4]int64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(words[i+1], 10, 64); err != nil || n[i] < 0 || n[i] > maxGraceMS {
			return swarm.Restart{}, false
		}
	}
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	r := swarm.Restart{When: swarm.RestartWhen(words[0]), MinDelay: ms(n[0]), MaxDelay: ms(n[1]), Budget: int(n[2]), Window: ms(n[3])}
	return r, r.When == swarm.RestartOnFailure || r.When == swarm.RestartAlways
}
