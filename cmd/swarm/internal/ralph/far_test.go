package ralph

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/spawn"
)

// TestCarryAgent has the values of variables stay out of the command line, and
// options arrive as they were given, commas too.
func TestCarryAgent(t *testing.T) {
	t.Parallel()
	o := &spawnOptions{}
	o.Cwd, o.Options = "/src", []string{"datacenters=a,b", "cpu=1"}
	st := ralph.State{Command: []string{"agent", "--", "-x"}}
	request := spawn.Request{Backend: "nomad", Env: []string{"TOKEN=secret"}}
	if err := o.carryAgent("/bin/swarm", &st, &request); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/bin/swarm", "ralph", "far", "--backend", "nomad", "--cwd", "/src", "--pass", "TOKEN",
		"--option", "datacenters=a,b", "--option", "cpu=1", "--", "agent", "--", "-x",
	}
	if diff := cmp.Diff(want, st.Command); diff != "" {
		t.Error(diff)
	}
	if request.Backend != app.BackendProcess || request.Dir == "/src" {
		t.Errorf("the loop itself: %+v", request)
	}
	request = spawn.Request{Backend: "nomad", Workspace: &spawn.WorkspaceRequest{Plugin: "worktree"}}
	if err := o.carryAgent("/bin/swarm", &st, &request); err == nil {
		t.Error("a worktree elsewhere is accepted")
	}
}
