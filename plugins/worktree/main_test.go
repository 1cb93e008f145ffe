package worktree

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/plugins/worktree/gittest"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// removeEnv makes the test binary a process that removes one worktree, so that
// tests can choose its working directory.
const removeEnv = "SWARM_TEST_REMOVE"

// removal is what such a process reads and writes.
type removal struct {
	Ref    swarm.WorkspaceRef
	Opts   swarm.RemoveOptions
	State  swarm.WorkspaceState
	Result swarm.RemoveResult
	Err    string
}

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

// run builds the plugin before the tests have a home of their own.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "swarm-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	pluginPath = filepath.Join(dir, "swarm-plugin-worktree")
	if err := buildtest.Program(pluginPath, "github.com/swarmhost/swarm/cmd/swarm-plugins"); err != nil {
		panic(err)
	}
	return gittest.Main(m, makeTemplate)
}

func remove(in string) error {
	var r removal
	if err := json.Unmarshal([]byte(in), &r); err != nil {
		return err
	}
	w := New(Config{}, slog.New(slog.DiscardHandler))
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
