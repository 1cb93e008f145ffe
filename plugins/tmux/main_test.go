package tmux_test

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
	dir, err := os.MkdirTemp("", "swarm-tmux-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shimPath, pluginPath = filepath.Join(dir, "swarm-shim"), filepath.Join(dir, "swarm-plugin-tmux")
	err = buildtest.Programs(dir, "github.com/swarmhost/swarm/cmd/swarm-shim", "github.com/swarmhost/swarm/cmd/swarm-plugins")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	// Nothing here may see the tmux and the settings of the user who runs the tests.
	for key, value := range map[string]string{"TMUX_TMPDIR": dir, "HOME": dir, "XDG_CONFIG_HOME": dir, "SHELL": "/bin/sh"} {
		if err := os.Setenv(key, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
	}
	for _, key := range []string{"TMUX", "TMUX_PANE"} {
		if err := os.Unsetenv(key); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
	}
	code = m.Run()
}
