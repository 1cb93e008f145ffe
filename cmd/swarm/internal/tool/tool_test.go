package tool

import (
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
)

// The list names every tool, a line each; no background shell is a sentence.
func TestLists(t *testing.T) {
	t.Parallel()
	a, stdout, _ := apptest.WithState(t)
	if err := runList(t.Context(), a, false); err != nil || !strings.Contains(stdout.String(), "KillShell") {
		t.Errorf("%v, stdout %q", err, stdout)
	}
	stdout.Reset()
	if err := runTasks(t.Context(), a, &tasksOptions{}); err != nil || stdout.String() != noTasks {
		t.Errorf("tasks: %v, stdout %q", err, stdout)
	}
}
