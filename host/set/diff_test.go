package set

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestDifferent(t *testing.T) {
	t.Parallel()
	policy := host.DefaultKill()
	want := host.SpawnRequest{
		Name: "w", Backend: "tmux", Command: []string{"x", "y"}, Dir: "/p/d", Env: []string{"A=1", "B=sesame"},
		Tags: []string{"s", "t"}, Options: map[string]string{"session": "s"}, Kill: &policy, Retain: "1h",
		Restart: swarm.Restart{When: swarm.RestartAlways}, OutputLimit: 1,
	}
	same := host.Worker{
		Name: "w", Backend: "tmux", Command: []string{"x", "y"}, Dir: "/p/d", Env: []string{"B=sesame", "A=0", "A=1"},
		Tags: []string{"t", "s"}, Options: map[string]string{"session": "s"}, Kill: policy, Retain: "1h0m0s",
		Restart: swarm.Restart{When: swarm.RestartAlways}.OrDefault(), OutputLimit: 1,
	}
	if got := different(same, want); got != nil {
		t.Errorf("differs: %q", got)
	}
	other := host.Worker{
		Name: "w", Backend: "process", Command: []string{"x"}, Dir: "/p", Env: []string{"A=2", "C=sesame"}, Tags: []string{"s"},
		Kill: swarm.KillOptions{Grace: time.Second}, Retain: "none", Stdin: true, Workspace: &swarm.WorkspaceRef{},
	}
	got := different(other, want)
	all := []string{
		"command", "backend", "env (A, B, C)", "tags", "options (session)", "worktree", "restart", "kill", "retain", "stdin", "log_limit",
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if strings.Contains(strings.Join(got, " "), "sesame") {
		t.Error("a value is told")
	}
	same.Dir = "/p"
	if diff := cmp.Diff([]string{"cwd"}, different(same, want)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestDifferentWorktree(t *testing.T) {
	t.Parallel()
	w := host.Worker{Name: "w", Dir: "/r-worktrees/w", Workspace: &swarm.WorkspaceRef{Path: "/r-worktrees/w", Branch: "w", Base: "/r"}}
	for _, c := range []struct {
		ask     host.WorkspaceRequest
		differs bool
	}{
		{host.WorkspaceRequest{}, false},
		{host.WorkspaceRequest{Branch: "w", Parent: "r-worktrees"}, false},
		{host.WorkspaceRequest{Parent: "/r-worktrees"}, false},
		{host.WorkspaceRequest{Branch: "b"}, true},
		{host.WorkspaceRequest{Parent: "trees"}, true},
	} {
		want := host.SpawnRequest{Name: "w", Dir: "/r/sub", Workspace: &c.ask}
		if got := different(w, want); (got != nil) != c.differs {
			t.Errorf("%+v: %q", c.ask, got)
		}
	}
}
