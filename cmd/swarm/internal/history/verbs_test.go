package history

import (
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
)

// Where nothing has happened, events and gc print nothing, and empty lists as JSON.
func TestVerbsWithoutHistory(t *testing.T) {
	t.Parallel()
	a, stdout, stderr := apptest.WithState(t)
	if err := runEvents(t.Context(), a, &eventsOptions{}); err != nil || stdout.Len() > 0 {
		t.Errorf("events: %v, stdout %q", err, stdout)
	}
	if err := runGC(t.Context(), a, false, nil); err != nil || stdout.Len() > 0 || stderr.Len() > 0 {
		t.Errorf("gc: %v, stdout %q, stderr %q", err, stdout, stderr)
	}
	const want = `{
  "ended": [],
  "removed": [],
  "killed": [],
  "run_directories": 0,
  "warnings": []
}
`
	if err := runGC(t.Context(), a, true, nil); err != nil || stdout.String() != want {
		t.Errorf("gc --json: %v, stdout %q", err, stdout)
	}
}
