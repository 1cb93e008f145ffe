package workers

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

// requestOf is the request that a command line makes with a config.
func requestOf(t *testing.T, cfg config.Config, args ...string) (spawn.Request, error) {
	t.Helper()
	var request spawn.Request
	a, _, _ := apptest.New()
	o := &SpawnOptions{}
	cmd := newSpawnWith(a, o)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if err := o.Parse(cmd, args); err != nil {
			return err
		}
		request, err = o.Request(t.Context(), &config.Loaded{Config: cfg})
		return err
	}
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return request, cmd.Execute()
}

func TestSpawnRequestOfDefaults(t *testing.T) {
	t.Parallel()
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, err := requestOf(t, config.Default(), "--name", "w", "--", "sh", "-c", "--name x", "--", "--json")
	if err != nil {
		t.Fatal(err)
	}
	want := spawn.Request{
		Name: "w", Backend: "process", Command: []string{"sh", "-c", "--name x", "--", "--json"}, Dir: cwd,
		Options: map[string]string{},
		Kill:    &swarm.KillOptions{Grace: 5 * time.Second, Force: true},
		Retain:  "until-clean",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestSpawnRequestFlagsOverConfig(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Defaults = config.Defaults{Backend: "tmux", Workspace: "worktree", Session: "s", TmuxSocket: "k", WorktreeDir: "wt", Tags: []string{"a", "b"}}
	cfg.Kill = config.Kill{Signal: "int", Timeout: time.Minute, Force: false, Mode: "main"}

	got, err := requestOf(t, cfg, "--name", "w", "--tag", "b", "--tag", "c", "--worktree", "--cwd", "/r/../q", "--", "x")
	if err != nil {
		t.Fatal(err)
	}
	want := spawn.Request{
		Name: "w", Backend: "tmux", Command: []string{"x"}, Dir: "/q", DirGiven: true, Tags: []string{"a", "b", "c"},
		Options:   map[string]string{"session": "s", "socket": "k"},
		Workspace: &spawn.WorkspaceRequest{Parent: "wt"},
		Kill:      &swarm.KillOptions{Signal: "SIGINT", Grace: time.Minute, Mode: swarm.KillMain},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("from the config (-want +got):\n%s", diff)
	}

	got, err = requestOf(t, cfg, "--name", "w", "--session", "t", "--tmux-socket", "l", "--option", "a=b=c",
		"--worktree", "--worktree-dir", "/w", "--branch", "br", "--kill-signal", "9", "--kill-timeout", "0",
		"--kill-mode", "tree", "--log-limit", "1KiB", "--env", "A=1", "--env", "A==", "--cwd", "/", "--", "x")
	if err != nil {
		t.Fatal(err)
	}
	want = spawn.Request{
		Name: "w", Backend: "tmux", Command: []string{"x"}, Dir: "/", DirGiven: true, Tags: []string{"a", "b"}, Env: []string{"A=1", "A=="},
		Options:     map[string]string{"session": "t", "socket": "l", "a": "b=c"},
		Workspace:   &spawn.WorkspaceRequest{Parent: "/w", Branch: "br"},
		Kill:        &swarm.KillOptions{Signal: "SIGKILL"},
		OutputLimit: 1024,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("from flags (-want +got):\n%s", diff)
	}

	// A session in the config is for tmux workers only; a flag asks for one.
	if got, err = requestOf(t, cfg, "--name", "w", "--backend", "process", "--", "x"); err != nil || len(got.Options) > 0 {
		t.Errorf("options of a process: %v, %v", got.Options, err)
	}
	if _, err = requestOf(t, cfg, "--name", "w", "--backend", "process", "--session", "t", "--", "x"); err == nil {
		t.Error("--session without tmux is taken")
	}
}
