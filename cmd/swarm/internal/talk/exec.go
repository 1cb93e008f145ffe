package talk

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

type execOptions struct {
	swarm.ExecOptions
	json bool
}

func NewExec(a *app.App) *cobra.Command {
	o := &execOptions{}
	cmd := &cobra.Command{
		Use:   "exec [flags] NAME -- COMMAND [ARG...]",
		Short: "Run a second command in a running worker",
		Long: `Run a command with what a running worker has: its directory, the environment that it was
started with, its sandbox, its limits, its container or machine, its user. The command has
the input and output of swarm itself; with -t it has a terminal of its own, for programs
such as shells and editors.

The command belongs to the worker: "swarm kill" ends it, "swarm stats" counts it, and it
ends with the worker, even if the worker ends by itself. The worker's output and exit code
have nothing of it. When swarm is ended or killed, the command is ended: by SIGTERM, and by
SIGKILL after the grace of the worker. Processes that the command leaves behind stay with
the worker.

A command in a sandboxed worker runs in the same sandbox. If a command can't run as the
worker does, it does not run at all.

The exit code is that of the command, or 128 and the number of the signal that ended it.
If the command did not run, it is 127 for one that does not exist, 126 for one that can't be
started, 125 if the worker ended meanwhile or could not be reached, and 1 or 2 if swarm
refused it before that.

With --json the command does not run: the program that would run it is printed.`,
		Example: `  swarm exec fix -- git status --short
  swarm exec -t fix -- bash
  swarm exec --cwd sub --env MODE=test fix -- make check
  swarm exec fix -- tar c . | tar t`,
		Args: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if dash != 1 || len(args) < 2 {
				return &output.UsageError{Text: "expected the name of a worker, then -- and a command", Hint: "try 'swarm exec NAME -- COMMAND'"}
			}
			return nil
		},
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Command = args[1:]
			return runExec(cmd.Context(), a, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.TTY, "tty", "t", false, "give the command a terminal of its own, as large as this one")
	flags.StringVar(&o.Dir, "cwd", "", "working directory `DIR` of the command, which may be relative to the worker's")
	flags.StringArrayVar(&o.Env, "env", nil, "variable for the command, `KEY=VAL`; may be repeated")
	flags.BoolVar(&o.json, "json", false, "print the program that would run the command, as JSON, and do not run it")
	return cmd
}

// programJSON is a program that takes the place of swarm.
type programJSON struct {
	Command []string `json:"command"`
	Env     []string `json:"env"`
	Unset   []string `json:"unset"`
}

func runExec(ctx context.Context, a *app.App, name string, o *execOptions) error {
	if o.TTY && !o.json && !term.IsTerminal(int(os.Stdin.Fd())) {
		return fmt.Errorf("cannot exec in '%s' with -t: stdin is not a terminal; leave out -t", name)
	}
	var to swarm.Program
	err := a.WithHost(ctx, func(h *host.Host) (err error) {
		to, err = h.Input().Exec(ctx, name, o.ExecOptions)
		// The program that replaces this process does not know its children.
		return errors.Join(err, h.Close())
	})
	if err != nil {
		return err
	}
	if o.json {
		return a.PrintJSON(programJSON{Command: to.Command, Env: append([]string{}, to.Env...), Unset: append([]string{}, to.Unset...)})
	}
	return a.Become(to)
}
