//go:build nomad

package nomad_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/plugins/nomad/nomadtest"
)

// pluginPath is the built plugin, agent the agent that the tests share.
var (
	pluginPath string
	agent      *nomadtest.Agent
)

func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	dir, err := os.MkdirTemp("", "swarm-nomad-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	pluginPath = filepath.Join(dir, "swarm-plugin-nomad")
	build := exec.Command("go", "build", "-o", pluginPath, "github.com/swarmhost/swarm/cmd/swarm-plugin-nomad")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return
	}
	err = nomadtest.Run("", func(a *nomadtest.Agent) error {
		agent = a
		code = m.Run()
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
}
