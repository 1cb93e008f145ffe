package client_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// shimPath is the real shim, built for these tests.
var shimPath string

// With these in its environment the test binary only starts a worker, see
// [worker.startElsewhere].
const (
	envStart = "SHIM_TEST_START"
	envDir   = "SHIM_TEST_DIR"
	envShim  = "SHIM_TEST_SHIM"
)

func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	if id := os.Getenv(envStart); id != "" {
		l := rundir.Launch{ID: id, Command: []string{"sleep", "999"}, Dir: "/", Force: true}
		l.Env = swarm.MergeEnv(append(os.Environ(), swarm.EnvWorkerID+"="+id))
		if err := client.Start(context.Background(), os.Getenv(envShim), os.Getenv(envDir), l); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		code = 0
		return
	}
	dir, err := os.MkdirTemp("", "swarm-shim-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shimPath = filepath.Join(dir, "swarm-shim")
	if err := buildtest.Programs(dir, "github.com/swarmhost/swarm/cmd/swarm-shim"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	code = m.Run()
}
