//go:build ssh

package ssh_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/plugins/ssh"
	"github.com/swarmhost/swarm/plugins/ssh/sshtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// settings are those of tests: workers are on the first server.
func settings(s *sshtest.Set) ssh.Config {
	c := ssh.Defaults()
	c.Host, c.ConfigFile, c.Programs = s.Servers[0].Name, s.Config, programs
	return c
}

// environment is that of a plugin.
func environment(dir string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SWARM_DIR=" + filepath.Join(dir, "state"), "SECRET=of this machine"}
}

func open(t backendtest.T, c ssh.Config) *ssh.Backend {
	t.Helper()
	return openIn(t, c, t.TempDir())
}

// openIn is open with a home directory on this side.
func openIn(t backendtest.T, c ssh.Config, dir string) *ssh.Backend {
	t.Helper()
	b, err := ssh.New(t.Context(), c, environment(dir), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(b.Close)
	return b
}

func TestContract(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, backendtest.Backend{New: func(t backendtest.T) swarm.Backend { return open(t, settings(shared)) }})
}

func TestBinary(t *testing.T) {
	t.Parallel()
	c := settings(shared)
	config, err := json.Marshal(map[string]any{"host": c.Host, "config_file": c.ConfigFile, "programs": c.Programs})
	if err != nil {
		t.Fatal(err)
	}
	backendtest.RunBinary(t, backendtest.Binary{
		Path: filepath.Join(programs, "swarm-plugin-ssh"), Config: config, Env: environment(t.TempDir()),
	})
}

// TestTerminals runs the kit with workers on terminals of tmux over there.
func TestTerminals(t *testing.T) {
	t.Parallel()
	set := sshtest.Start(t, "ttybox")
	t.Run("kit", func(t *testing.T) {
		backendtest.Run(t, backendtest.Backend{
			New: func(t backendtest.T) swarm.Backend {
				c := settings(set)
				c.TTY = true
				return open(t, c)
			},
			// Both streams of a terminal are one, and a shell says there which of its children a
			// signal has ended. It shows the interrupt key, too.
			Command: func(s script.Script) []string {
				command := script.Shell(s)
				if len(command) == 3 {
					command[2] = "stty -echo; exec 2>/dev/null; " + command[2]
				}
				return command
			},
		})
	})
}
