package set

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestDifferent(t *testing.T) {
	t.Parallel()
	policy := host.DefaultKill()
	want := spawn.Request{
		Name: "w", Backend: "tmux", Command: []string{"x", "y"}, Dir: "/p/d", Env: []string{"A=1", "B=sesame"},
		Tags: []string{"s", "t"}, Options: map[string]string{"session": "s"}, Kill: &policy, Retain: "1h",
		Restart: swarm.Restart{When: swarm.RestartAlways}, OutputLimit: 1,
	}
	same := worker.Worker{
		Spec: registry.Spec{Name: "w", Backend: "tmux", Command: []string{"x", "y"}, Dir: "/p/d", Env: []string{"B=sesame", "A=0", "A=1"}, Tags: []string{"t", "s"}, Options: map[string]string{"session": "s"}, Kill: policy, Retain: "1h0m0s", Restart: swarm.Restart{When: swarm.RestartAlways}.OrDefault(), OutputLimit: 1},
	}
	if got := different(same, want); got != nil {
		t.Errorf("differs: %q", got)
	}
	other := worker.Worker{
		Spec:      registry.Spec{Name: "w", Backend: "process", Command: []string{"x"}, Dir: "/p", Env: []string{"A=2", "C=sesame"}, Tags: []string{"s"}, Kill: swarm.KillOptions{Grace: time.Second}, Retain: "none", Stdin: true},
		Workspace: &swarm.WorkspaceRef{},
	}
	got := different(other, want)
	all := []string{
		"command", "backend", "env (A, B, C)", "tags", "options (session)", "workspace", "restart", "kill", "retain", "stdin", "log_limit",
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if strings.Contains(strings.Join(got, " "), "sesame") {
		t.Error("a value is shown")
	}
	same.Dir = "/p"
	if diff := cmp.Diff([]string{"cwd"}, different(same, want)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestDifferentWorkspace(t *testing.T) {
	t.Parallel()
	w := worker.Worker{
		Spec:      registry.Spec{Name: "w", Dir: "/r-worktrees/w", Ask: &registry.WorkspaceAsk{Plugin: "one"}},
		Workspace: &swarm.WorkspaceRef{Path: "/r-worktrees/w", Branch: "w", Base: "/r"},
	}
	for _, c := range []struct {
		ask     spawn.WorkspaceRequest
		differs bool
	}{
		{spawn.WorkspaceRequest{}, false},
		{spawn.WorkspaceRequest{Branch: "w", Parent: "r-worktrees"}, false},
		{spawn.WorkspaceRequest{Parent: "/r-worktrees"}, false},
		{spawn.WorkspaceRequest{Branch: "b"}, true},
		{spawn.WorkspaceRequest{Parent: "trees"}, true},
		{spawn.WorkspaceRequest{Plugin: "one"}, false},
		{spawn.WorkspaceRequest{Plugin: "two"}, true},
		{spawn.WorkspaceRequest{Options: map[string]string{"a": "1"}}, true},
	} {
		want := spawn.Request{Name: "w", Dir: "/r", DirGiven: true, Workspace: &c.ask}
		if got := different(w, want); (got != nil) != c.differs {
			t.Errorf("%+v: %q", c.ask, got)
		}
	}
}

// A declared directory has a counterpart in the worktree; without one the worker runs at the
// top of the worktree.
func TestDifferentDirInWorktree(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	repo, linked := filepath.Join(root, "repo"), filepath.Join(root, "linked")
	for _, dir := range []string{filepath.Join(repo, ".git", "worktrees", "linked"), filepath.Join(linked, "sub"), filepath.Join(root, "other", ".git")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	gitDir := "gitdir: " + filepath.Join(repo, ".git", "worktrees", "linked") + "\n"
	if err := os.WriteFile(filepath.Join(linked, ".git"), []byte(gitDir), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, runs, declared string
		given, differs       bool
	}{
		{"", "", "repo", true, false},
		{"", "", "repo/sub", false, false},
		{"", "", "repo/sub", true, true},
		{"", "sub", "repo/sub", true, false},
		{"", "sub", "repo", true, true},
		{"", "sub", "repo", false, true},
		{"", "sub", "repo/sub/deep", true, true},
		{"", "sub", "linked/sub", true, false},
		{"", "", "linked/sub", true, true},
		{"", "", "other", true, true},
		{"", "", "other", false, true},
		{"far", "sub", "repo/sub", true, false},
		{"far", "sub", "repo/other", true, true},
		{"far", "sub", "link/sub", true, false},
	} {
		tree := filepath.Join(root, "repo-worktrees", "w")
		w := worker.Worker{Spec: registry.Spec{Name: "w", Dir: filepath.Join(tree, c.runs)}, Workspace: &swarm.WorkspaceRef{Path: tree, Branch: "w", Base: repo, Host: c.host}}
		want := spawn.Request{Name: "w", Dir: filepath.Join(root, c.declared), DirGiven: c.given, Workspace: &spawn.WorkspaceRequest{}}
		got := different(w, want)
		if c.differs != slices.Equal(got, []string{"cwd"}) || !c.differs && got != nil {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A directory for workspaces that is no longer declared is a difference: that of the plugin is
// meant then.
func TestDifferentDirOfWorkspaces(t *testing.T) {
	t.Parallel()
	for parent, differs := range map[string]bool{"": false, "trees": true} {
		w := worker.Worker{
			Spec:      registry.Spec{Name: "w", Dir: "/trees/w", Ask: &registry.WorkspaceAsk{Parent: parent}},
			Workspace: &swarm.WorkspaceRef{Path: "/trees/w", Branch: "w", Base: "/r"},
		}
		want := spawn.Request{Name: "w", Dir: "/r", Workspace: &spawn.WorkspaceRequest{}}
		if got := different(w, want); slices.Equal(got, []string{"workspace"}) != differs || !differs && got != nil {
			t.Errorf("%q: %q", parent, got)
		}
	}
}
