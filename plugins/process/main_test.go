package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
)

// The real programs, built for these tests.
var shimPath, pluginPath string

func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	dir, err := os.MkdirTemp("", "swarm-process-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shimPath, pluginPath = filepath.Join(dir, "swarm-shim"), filepath.Join(dir, "swarm-plugin-process")
	err = buildtest.Programs(dir, "github.com/swarmhost/swarm/cmd/swarm-shim", "github.com/swarmhost/swarm/cmd/swarm-plugins")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	code = m.Run()
}
