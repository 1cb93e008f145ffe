package rundir

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

const milli = 1000

// limitsText returns limits in one word: bytes of memory, thousandths of CPUs, processes,
// the nice value, the I/O weight, and 1 for the best effort; empty if there are none.
func limitsText(l swarm.Limits) string {
	if l == (swarm.Limits{}) {
		return ""
	}
	best := "0"
	if l.BestEffort {
		best = "1"
	}
	return strings.Join([]string{
		strconv.FormatInt(l.Memory, 10), strconv.FormatInt(int64(l.CPUs*milli+0.5), 10),
		strconv.Itoa(l.PIDs), strconv.Itoa(l.Nice), strconv.Itoa(l.IOWeight), best,
	}, ",")
}

// parseLimits reads what limitsText wrote.
func parseLimits(value string) (swarm.Limits, bool) {
	words := strings.Split(value, ",")
	if len(words) != 6 {
		return swarm.Limits{}, false
	}
	var n [6]int64
	for i, word := range words {
		var err error
		if n[i], err = strconv.ParseInt(word, 10, 64); err != nil {
			return swarm.Limits{}, false
		}
	}
	l := swarm.Limits{
		Memory: n[0], CPUs: float64(n[1]) / milli, PIDs: int(n[2]), Nice: int(n[3]), IOWeight: int(n[4]), BestEffort: n[5] == 1,
	}
	return l, l.Check() == nil && (n[5] == 0 || n[5] == 1)
}

// noLimits is the text of no limits in a request.
const noLimits = "none"

func requestedText(l swarm.Limits) string { return cmp.Or(limitsText(l), noLimits) }

func parseRequested(value string) (swarm.Limits, bool) {
	if value == noLimits {
		return swarm.Limits{}, true
	}
	return parseLimits(value)
}
