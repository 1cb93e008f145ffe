package nomad

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"
)

func failure(a *api.AllocationListStub) string {
	t := a.TaskStates[taskName] // may be nil
	for _, kind := range []string{api.TaskDriverFailure, api.TaskSetupFailure, api.TaskFailedValidation, api.TaskArtifactDownloadFailed} {
		if e := eventOf(t, kind); e != nil {
			return plain(cmp.Or(e.DisplayMessage, e.DriverError, e.SetupError, e.Message, kind))
		}
	}
	if e := lastEvent(t); e != nil {
		return plain(cmp.Or(e.DisplayMessage, e.Type))
	}
	return cmp.Or(firstLine(a.ClientDescription), "it did not start")
}

var (
	// Where Nomad's parts talk to each other is of no use to a person.
	between = regexp.MustCompile(`rpc error: code = \w+ desc = `)
	// The command with all its arguments, which may hold secrets.
	commandLine = regexp.MustCompile(`failed to start command path="[^"]*" --- args=\[.*\]: `)
)

func plain(text string) string {
	text = between.ReplaceAllString(strings.ReplaceAll(text, "\n", " "), "")
	return firstLine(commandLine.ReplaceAllString(text, ""))
}

func unplaceable(m *api.AllocationMetric) string {
	if m.NodesEvaluated == 0 {
		places := make([]string, 0, len(m.NodesAvailable))
		for _, dc := range slices.Sorted(maps.Keys(m.NodesAvailable)) {
			places = append(places, fmt.Sprintf("%s has %d", dc, m.NodesAvailable[dc]))
		}
		where := "its datacenters and its node pool have no node that is ready"
		if len(places) > 0 {
			where = "no node is eligible (of those that are ready " + strings.Join(places, ", ") + ")"
		}
		return where + ": check datacenters and node_pool, and `nomad node status`"
	}
	var why []string
	count := func(reasons map[string]int, format string) {
		for _, reason := range slices.Sorted(maps.Keys(reasons)) {
			why = append(why, fmt.Sprintf(format, reasons[reason], reason))
		}
	}
	count(m.ConstraintFiltered, "%d do not meet the constraint '%s'")
	count(m.ClassFiltered, "%d are of the class '%s'")
	count(m.DimensionExhausted, "%d have no room: %s")
	for _, q := range m.QuotaExhausted {
		why = append(why, "the quota is used up: "+q)
	}
	if len(why) == 0 {
		why = append(why, "Nomad gives no reason")
	}
	return fmt.Sprintf("of %d nodes %s: change driver, constraints, cpu or memory, or make room",
		m.NodesEvaluated, strings.Join(why, ", "))
}
