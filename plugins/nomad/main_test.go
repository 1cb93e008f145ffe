//go:build nomad

package nomad_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/plugins/nomad/nomadtest"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/leftover"
)

// pluginPath is the built plugin, agent the agent that the tests share.
var (
	pluginPath string
	agent      *nomadtest.Agent
)

func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	if err := leftover.Watch(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	dir, err := leftover.MkdirTemp("", "swarm-nomad-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() { _ = leftover.RemoveAll(dir) }()
	pluginPath = filepath.Join(dir, "swarm-plugin-nomad")
	if err := buildtest.Programs(dir, "github.com/swarmhost/swarm/cmd/swarm-engines"); err != nil {
		fmt.Fprintln(os.Stderr, err)
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
