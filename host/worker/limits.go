package worker

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

// LimitsText writes limits as people read them: "2.0GiB of memory, 1.5 CPUs, 500
// processes"; empty if there are none.
func LimitsText(l swarm.Limits) string {
	var parts []string
	if l.Memory != 0 {
		parts = append(parts, humane.Bytes(l.Memory)+" of memory")
	}
	if l.CPUs != 0 {
		word := " CPUs"
		if l.CPUs == 1 {
			word = " CPU"
		}
		parts = append(parts, strconv.FormatFloat(l.CPUs, 'f', -1, 64)+word)
	}
	if l.PIDs != 0 {
		parts = append(parts, fmt.Sprintf("%d processes", l.PIDs))
	}
	if l.Nice != 0 {
		parts = append(parts, fmt.Sprintf("nice %d", l.Nice))
	}
	if l.IOWeight != 0 {
		parts = append(parts, fmt.Sprintf("I/O weight %d", l.IOWeight))
	}
	if len(parts) > 0 && l.BestEffort {
		parts = append(parts, "as far as possible")
	}
	return strings.Join(parts, ", ")
}
