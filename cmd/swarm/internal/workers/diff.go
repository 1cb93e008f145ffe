package workers

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

type diffOptions struct{ stat, json bool }

func NewDiff(a *app.App) *cobra.Command {
	o := &diffOptions{}
	cmd := &cobra.Command{
		Use:   "diff NAME",
		Short: "Show what a worker's worktree has changed",
		Long: `Show what the work in a worker's worktree has changed since the worktree was made: all
commits, uncommitted changes and untracked files, but no ignored ones. Git prints the
difference, with its colours and with your pager on a terminal; --color, NO_COLOR and
CLICOLOR_FORCE hold for it too.

The worktree and its index are not changed. No program that the repository configures
runs: no external diff, no text conversion, no filter and no pager of its own.

docs/diff.schema.json describes the object that --json prints.`,
		Example: `  swarm diff fix
  swarm diff fix --stat
  swarm diff fix --json | jq '.files | length'`,
		Args:              command.Arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.CompleteOneWorker,
		RunE:              func(cmd *cobra.Command, args []string) error { return runDiff(cmd.Context(), a, args[0], o) },
	}
	cmd.Flags().BoolVar(&o.stat, "stat", false, "only the changed files, with how many lines were added and removed")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the changed files as JSON")
	return cmd
}

// colourOfGit returns the colour that git is asked for: it knows best whether its output goes
// to a terminal, unless the user has said what to do.
func colourOfGit(a *app.App) swarm.Colour {
	switch {
	case output.WantsColour(a.Colour, a.Getenv, false):
		return swarm.ColourAlways
	case !output.WantsColour(a.Colour, a.Getenv, true):
		return swarm.ColourNever
	default:
		return ""
	}
}

// diffJSON is what a worktree has changed, as docs/diff.schema.json describes it. Fields are
// only ever added.
type diffJSON struct {
	Worktree string          `json:"worktree"`
	Branch   string          `json:"branch"`
	Files    []view.FileJSON `json:"files"`
	// Host is of a worktree on another machine.
	Host string `json:"host,omitempty"`
}

func runDiff(ctx context.Context, a *app.App, name string, o *diffOptions) error {
	var ref swarm.WorkspaceRef
	var diff swarm.Diff
	err := a.WithHost(ctx, func(h *host.Host) (err error) {
		ref, diff, err = h.Workspaces().Compare(ctx, name, swarm.DiffOptions{Colour: colourOfGit(a)})
		// The program that replaces this process does not know its children.
		return errors.Join(err, h.Close())
	})
	if err != nil {
		return err
	}
	switch {
	case o.json:
		return a.PrintJSON(diffJSON{Worktree: ref.Path, Branch: ref.Branch, Files: view.FilesJSON(diff.Files), Host: ref.Host})
	case o.stat:
		a.PrintTable(nil, view.FileRows(diff.Files))
		return nil
	}
	return a.Become(swarm.Program{Command: diff.Command, Env: diff.Env, Unset: diff.Unset})
}
