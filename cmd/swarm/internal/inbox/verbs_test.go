package inbox

import (
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/tool"
)

// In a team without agents a message to all reaches no agent, and nothing is there to read.
func TestVerbsInAnEmptyTeam(t *testing.T) {
	t.Parallel()
	a, stdout, stderr := apptest.WithState(t)
	if _, err := tool.SpawnTeam.Do(t.Context(), a.ToolEnv(config.Default()), tool.SpawnTeamInput{TeamName: "web"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stdout, stderr string
		args           []string
	}{
		{"sent to all\n", "swarm: the team has no other member\n", []string{"send", "all", "hello", "--team", "web"}},
		{"", "swarm: no unread messages\n", []string{"read", "--team", "web"}},
	} {
		stdout.Reset()
		stderr.Reset()
		if err := apptest.Run(t, New(a), c.args...); err != nil || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%q: %v, stdout %q, stderr %q", c.args, err, stdout, stderr)
		}
	}
	err := apptest.Run(t, New(a), "send", "alice", "hello", "--team", "web")
	if err == nil || !strings.Contains(err.Error(), "alice") {
		t.Errorf("a message to an agent that does not exist: %v", err)
	}
}
