package dashboard

import (
	"errors"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/swarm"
)

// topProgram is the dashboard. It is a program of its own so that no other call of swarm has
// to prepare the screen.
const topProgram = "swarm-top"

func NewTop(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Show workers full screen, and act on them",
		Long: `Show all workers full screen as they change, the most urgent first: those that need you,
crash loops, lost ones, failed ones, running ones, ended ones. On the right is what the
selected one shows: its screen, its log, details, what its worktree has changed, its
history.

A key does what a verb does: attach and come back, answer, send a line, interrupt, kill,
respawn, clean, for one worker or for all marked ones. A kill, or a respawn of a worker
that runs, asks only if work could be lost, and says what. ':' lists all commands, each
with the line for the shell that does the same, and '?' lists all keys.

Workers continue when the dashboard ends, however it ends.`,
		Example: `  swarm top`,
		Args:    command.Arguments(0, 0, ""),
		RunE:    func(*cobra.Command, []string) error { return runTop(a) },
	}
}

func runTop(a *app.App) error {
	program, dashboard, err := a.Companion(topProgram)
	if err != nil {
		return err
	}
	if a.Getenv("TERM") == "dumb" {
		return &output.HintError{Err: errors.New("cannot show the dashboard: this terminal can't move its cursor (TERM=dumb)"), Hint: noTop}
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) || a.OutWidth() == 0 {
		return &output.HintError{Err: errors.New("cannot show the dashboard: stdin and stdout must be a terminal"), Hint: noTop}
	}
	return a.Become(swarm.Attachment{Command: []string{
		dashboard, "-swarm", program, "-version", setup.ReadBuild().Version,
		"-colour=" + strconv.FormatBool(a.Colours()), "-plain=" + strconv.FormatBool(a.Plain()),
	}})
}

// noTop is what to do without a dashboard.
const noTop = "'swarm ls' lists workers, 'swarm watch' follows what happens to them"
