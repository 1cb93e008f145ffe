package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/errtext"
)

type callOptions struct {
	input   string
	session sessionFlag
	json    bool
}

func newCall(a *app.App) *cobra.Command {
	o := &callOptions{}
	cmd := &cobra.Command{
		Use:   "call NAME [flags]",
		Short: "Call a tool",
		Long: `Call a tool and print its answer, one JSON object. On a terminal, KillShell and tasks
print text instead, unless --json is given.

A tool of a plugin is named PLUGIN.TOOL. Its input is checked against its schema before
the plugin is called.

The input is a JSON object: given literally, in a file (@FILE), or on stdin (-).
Without it all fields are left out. Wrong input changes nothing, and the answer names
the field.

A background shell that is started this way belongs to the session that --session
names: a label, or the pid of a process; the shell ends with that process. Without
--session it belongs to the worker in which this call runs, or to no session.

Exit code: 0 if the answer says success, 1 if not, 2 if the input was wrong.`,
		Example: `  swarm tool call Bash --json-input '{"command": "npm run dev", "run_in_background": true}'
  swarm tool call KillShell --json-input '{"shell_id": "bg-a1b2c3", "timeout": 3000}'
  swarm tool call get-agent-status --json-input @query.json
  swarm tool call notes.search --json-input '{"text": "release"}'`,
		Args:              command.Arguments(1, 1, "name of a tool"),
		ValidArgsFunction: completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := findTool(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			return runCall(cmd.Context(), a, t, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.input, "json-input", "", "the input: a `JSON` object, @FILE, or - for stdin")
	o.session.addTo(cmd, "session of the background shells: a label, or the `PID` of their owner")
	f.BoolVar(&o.json, "json", false, "print JSON on a terminal too")
	return cmd
}

func runCall(ctx context.Context, a *app.App, t tool.Tool, o *callOptions) error {
	output.FinishWriting()
	input, err := readToolInput(ctx, o.input)
	if err != nil {
		return err
	}
	env, err := toolCallEnv(a, t, o)
	if err != nil {
		return err
	}
	r := t.Call(ctx, env, input)
	if err := member.Afterwards(ctx, r.AfterAnswer, printResult(a, r, o)); err != nil {
		return err
	}
	switch _, wrong := errors.AsType[*tool.InputError](r.Err); {
	case wrong:
		return &output.CodeError{Code: output.ExitUsage}
	case r.Failed && ctx.Err() != nil:
		return ctx.Err() // interrupted, which has an exit code of its own
	case r.Failed:
		return output.Failed
	default:
		return r.Err
	}
}

func readToolInput(ctx context.Context, value string) (json.RawMessage, error) {
	path, ok := strings.CutPrefix(value, "@")
	if value != "-" && !ok {
		return json.RawMessage(value), nil
	}
	return app.Interruptibly(ctx, func() ([]byte, error) {
		var input []byte
		var err error
		if value == "-" {
			path = "stdin"
			input, err = io.ReadAll(os.Stdin)
		} else {
			input, err = os.ReadFile(path)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", path, errtext.Cause(err))
		}
		return input, nil
	})
}

// toolCallEnv reads the project's file only for a tool that starts programs that it names.
func toolCallEnv(a *app.App, t tool.Tool, o *callOptions) (env tool.Env, err error) {
	switch {
	case tool.IsOfPlugin(t.Name):
		loaded, err := a.Setup().Load(app.BackendTmux) // findTool has printed the warnings
		if err != nil {
			return env, err
		}
		env = a.ToolEnv(loaded.Config)
	case t.Name == "spawn-agent", t.Name == "worker-spawn":
		loaded, err := a.LoadProjectFor(app.BackendTmux)
		if err != nil {
			return env, err
		}
		env = a.ToolEnv(loaded.Config)
		env.Own = setup.Decided(loaded)
		env.WorkspaceParent, env.ReadEnv = setup.WorkspaceParent(loaded), config.ReadEnv
		env.NewWorker = func(backend string) spawn.Request { return setup.NewWorker(loaded, backend) }
	case t.Name == "Bash":
		// Its workers have the user's defaults, such as a sandbox, so a mistake in their file
		// is an error.
		loaded, err := a.Setup().LoadUser()
		a.WarnRefused(loaded)
		if err != nil {
			return env, err
		}
		env = a.ToolEnv(loaded.Config)
	default:
		env = a.ToolEnv(a.UserConfig())
	}
	env.Dir, _ = os.Getwd() // a tool that needs no project works in a deleted directory too
	err = o.session.parseInto(&env)
	return env, err
}

func printResult(a *app.App, r tool.Result, o *callOptions) error {
	if a.OutWidth() == 0 || o.json {
		return a.PrintJSON(r.Output)
	}
	switch out := r.Output.(type) {
	case tool.KillShellOutput:
		a.Printf("%s", output.Made(killShellText(out, a.OutWidth())))
		return nil
	case tool.TasksOutput:
		if out.Success {
			ended := func(t shell.Shell) bool { return t.Status != shell.Running }
			printTasks(a, out, slices.ContainsFunc(out.Tasks, ended))
			return nil
		}
	}
	return a.PrintJSON(r.Output)
}

func killShellText(out tool.KillShellOutput, width int) string {
	notFound := shell.NotFoundError{ID: out.ShellID}
	switch {
	case out.Error == notFound.Error():
		return shellNotFoundText(out.ShellID)
	case out.Error != "" && out.Success:
		return output.Visible(out.Error) + "\n"
	case !out.Success:
		return "Error: " + output.Visible(cmp.Or(out.Error, "the shell is still running")) + "\n"
	case out.ForceKilled != nil && *out.ForceKilled:
		return forceKilledBox(out, width)
	default:
		return terminatedBox(out, width)
	}
}
