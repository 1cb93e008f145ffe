// Package apptest holds an [app.App] for tests that writes into buffers. Only tests import it.
package apptest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
)

// New returns an app that writes into buffers and has no environment.
func New() (a *app.App, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return &app.App{Printer: output.Printer{Out: &output.Stream{W: stdout}, Err: stderr, OutWidth: noTerminal, ErrWidth: noTerminal}}, stdout, stderr
}

func noTerminal() int { return 0 }

// WithState returns an app like [New] with a new, empty state directory and home, so that
// verbs can open a host.
func WithState(t *testing.T) (a *app.App, stdout, stderr *bytes.Buffer) {
	t.Helper()
	a, stdout, stderr = New()
	home := t.TempDir()
	a.Env = []string{"HOME=" + home, "SWARM_DIR=" + filepath.Join(home, "state"), "PATH=" + os.Getenv("PATH")}
	return a, stdout, stderr
}

// Run runs a command with args, without the additions of the root command.
func Run(t *testing.T, cmd *cobra.Command, args ...string) error {
	t.Helper()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	return cmd.ExecuteContext(t.Context())
}
