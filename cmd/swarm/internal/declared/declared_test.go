package declared

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestDeclaredWorker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	project := filepath.Join(dir, config.ProjectFile)
	src := `
[workers.all]
command = ["x", "y"]
backend = "tmux"
cwd = "d"
tags = ["t"]
session = "s"
tmux_socket = "k"
options = { other = 1 }
worktree = { branch = "b", dir = "trees" }
restart = { when = "always", min_delay = 1, max_delay = 2, budget = 3, window = 4 }
ready = { pattern = "^up", timeout = 5 }
depends_on = ["least"]
kill = { signal = "int", timeout = 6, force = false, mode = "main" }
retain = "1h"
stdin = true
log_limit = 7
[workers.least]
command = ["z"]
session = "not for this backend"
`
	if err := os.WriteFile(project, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	trusted := func(string, []byte) bool { return true }
	l, err := config.Load(config.Options{Project: project, Checks: setup.Checks(), Trusted: trusted})
	if err != nil {
		t.Fatal(err)
	}
	all, err := declaredWorker("all", l.Config.Workers["all"])
	if err != nil {
		t.Fatal(err)
	}
	want := spawn.Request{
		Name: "all", Backend: "tmux", Command: []string{"x", "y"}, Dir: filepath.Join(dir, "d"), Tags: []string{"t"},
		Options:   map[string]string{"session": "s", "socket": "k", "other": "1"},
		Workspace: &spawn.WorkspaceRequest{Plugin: "worktree", Branch: "b", Parent: "trees"},
		Restart:   swarm.Restart{When: swarm.RestartAlways, MinDelay: time.Second, MaxDelay: 2 * time.Second, Budget: 3, Window: 4 * time.Second},
		Kill:      &swarm.KillOptions{Signal: "SIGINT", Grace: 6 * time.Second, Mode: swarm.KillMain},
		Retain:    "1h", Stdin: true, OutputLimit: 7,
	}
	if diff := cmp.Diff(want, all.Spawn); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if r := all.Ready; r == nil || r.Pattern.String() != "^up" || r.Timeout != 5*time.Second {
		t.Errorf("ready %+v", r)
	}
	if diff := cmp.Diff([]string{"least"}, all.DependsOn); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}

	least, err := declaredWorker("least", l.Config.Workers["least"])
	if err != nil {
		t.Fatal(err)
	}
	policy := host.DefaultKill()
	want = spawn.Request{
		Name: "least", Backend: "process", Command: []string{"z"}, Dir: dir, Options: map[string]string{}, Kill: &policy,
		Retain: config.RetainUntilClean, OutputLimit: 64 << 20,
	}
	if diff := cmp.Diff(want, least.Spawn); diff != "" || least.Ready != nil {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}
