package dashboard

import (
	"errors"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/swarm"
)

func NewTop(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Show workers full screen, and act on them",
		Long: `Show all workers full screen as they change, the most urgent first: those that need you,
crash loops, lost ones, failed ones, running ones, ended ones. On the right is what the
selected one shows: its screen, its log, details, what its worktree has changed, its
history.

A key does what a verb does, for the selected worker or for all marked ones:

  a  attach and come back    y  answer its question    s  send a line
  K  press keys              i  press Ctrl-C           x  kill
  r  respawn                 c  clean                  space, A  mark it, or all shown

  up and down, g and G       move in the list
  enter                      attach, use the whole width, or fold a group
  tab, pgup and pgdn         the next tab; scroll the right side
  o, b, /                    the next order, the next grouping, filter
  :                          all commands, each with the line for the shell
  ?, q                       all keys; quit

A kill, or a respawn of a worker that runs, asks first if work could be lost or if it ends
several workers. A clean asks, because it removes logs.

Workers continue when the dashboard ends, however it ends.`,
		Example: `  swarm top`,
		Args:    command.Arguments(0, 0, ""),
		RunE:    func(*cobra.Command, []string) error { return runTop(a) },
	}
}

func runTop(a *app.App) error {
	command, err := a.Companion("top")
	switch {
	case err != nil:
		return err
	case a.Getenv("TERM") == "dumb":
		return output.WithHint(errors.New("cannot show the dashboard: this terminal can't move its cursor (TERM=dumb)"), noTop)
	case !term.IsTerminal(int(os.Stdin.Fd())) || a.OutWidth() == 0:
		return output.WithHint(errors.New("cannot show the dashboard: stdin and stdout must be a terminal"), noTop)
	}
	return a.Become(swarm.Program{Command: append(command,
		"-colour="+strconv.FormatBool(a.Colours()), "-plain="+strconv.FormatBool(a.Plain()))})
}

// noTop names the verbs that need no dashboard.
const noTop = "'swarm ls' lists workers, 'swarm watch' follows what happens to them"
