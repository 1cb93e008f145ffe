package task

import (
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/tool"
)

// A task is created, claimed, finished and listed without a plugin.
func TestVerbs(t *testing.T) {
	t.Parallel()
	a, stdout, _ := apptest.WithState(t)
	if _, err := tool.SpawnTeam.Do(t.Context(), a.ToolEnv(config.Default()), tool.SpawnTeamInput{TeamName: "web"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"created task-1\n", []string{"create", "write it", "--team", "web", "--priority", "high"}},
		{"created task-2\n", []string{"create", "test it", "--team", "web", "--depends-on", "task-1"}},
		{"ID      STATUS   PRIORITY  OWNER  NEEDS   TITLE\n" +
			"task-1  pending  high      -      -       write it\n" +
			"task-2  pending  normal    -      task-1  test it\n", []string{"ls", "--team", "web"}},
	} {
		stdout.Reset()
		if err := apptest.Run(t, New(a), c.args...); err != nil || stdout.String() != c.want {
			t.Errorf("%q: %v, stdout\n%swant\n%s", c.args, err, stdout, c.want)
		}
	}
}
