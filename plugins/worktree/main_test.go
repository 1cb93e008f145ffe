package worktree

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/swarm"
)

// removeEnv makes the test binary a process that removes one worktree, so that
// tests can choose its working directory.
const removeEnv = "SWARM_TEST_REMOVE"

// removal is what such a process is told and answers.
type removal struct {
	Ref    swarm.WorkspaceRef
	Opts   swarm.RemoveOptions
	State  swarm.WorkspaceState
	Result swarm.RemoveResult
	Err    string
}

const gitconfig = `
[user]
	name = A U Thor
	email = author@example.com
[safe]
	directory = *
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
`

// environment is what this process was started with.
var environment = os.Environ()

func TestMain(m *testing.M) {
	if in := os.Getenv(removeEnv); in != "" {
		if err := remove(in); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	home, err := os.MkdirTemp("", "swarm-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	config := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(config, []byte(gitconfig), 0o644); err != nil {
		panic(err)
	}
	// For tests that remove as another user.
	if err := os.Chmod(home, 0o755); err != nil {
		panic(err)
	}
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": config, "GIT_CONFIG_NOSYSTEM": "1",
		// None of these may matter.
		"GIT_DIR": "/nonexistent", "GIT_WORK_TREE": "/nonexistent", "GIT_INDEX_FILE": "/nonexistent", "LC_ALL": "de_DE.UTF-8",
	} {
		if err := os.Setenv(k, v); err != nil {
			panic(err)
		}
	}
	if err := makeTemplate(home); err != nil {
		panic(err)
	}
	return m.Run()
}

func remove(in string) error {
	var r removal
	if err := json.Unmarshal([]byte(in), &r); err != nil {
		return err
	}
	w := New(Config{}, hclog.NewNullLogger())
	ctx := context.Background()
	var err error
	if r.State, err = w.Inspect(ctx, r.Ref, r.Opts); err != nil {
		return err
	}
	if r.Result, err = w.Remove(ctx, r.Ref, r.Opts); err != nil {
		r.Err = err.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}
