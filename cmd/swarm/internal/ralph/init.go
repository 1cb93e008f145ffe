package ralph

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/errtext"
)

const promptFile = "PROMPT.md"

//go:embed prompt.md
var promptTemplate string

func newInit(a *app.App) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:     "init [--force]",
		Short:   "Write a " + promptFile + " to start from",
		Long:    `Write ` + promptFile + ` in this directory, with the text that 'swarm ralph template' prints.`,
		Example: `  swarm ralph init && $EDITOR PROMPT.md`,
		Args:    command.Arguments(0, 0, ""),
		RunE:    func(*cobra.Command, []string) error { return runInit(a, force) },
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing one")
	return cmd
}

func runInit(a *app.App, force bool) error {
	_, err := os.Lstat(promptFile)
	there := !errors.Is(err, fs.ErrNotExist)
	if there && !force {
		return fmt.Errorf("%s already exists (use --force to overwrite)", promptFile)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(promptFile, flags, 0o644)
	if err == nil {
		_, err = f.WriteString(promptTemplate)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", promptFile, errtext.Cause(err))
	}
	if there {
		a.Printf("created %s (overwritten)\n", promptFile)
	} else {
		a.Printf("created %s\n", promptFile)
	}
	return nil
}

func newTemplate(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "template",
		Short:   "Print a prompt to start from",
		Long:    `Print a prompt for loops: one small step in each iteration, and how to report the end.`,
		Example: `  swarm ralph template > PROMPT.md`,
		Args:    command.Arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			a.Printf("%s", output.Made(promptTemplate))
			return nil
		},
	}
}
