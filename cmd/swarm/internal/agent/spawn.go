package agent

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/swarm"
)

type spawnOptions struct {
	member.Flags
	in     tool.SpawnAgentInput
	role   *command.ChoiceFlag
	limits command.Limits
	box    command.Sandbox

	workspace command.Workspace
}

func newSpawn(a *app.App) *cobra.Command {
	o := &spawnOptions{}
	cmd := &cobra.Command{
		Use:   "spawn [flags] [-- COMMAND [ARG...]]",
		Short: "Start an agent",
		Long: `Start COMMAND as an agent of a team, in a tmux window unless --backend says
otherwise. Without COMMAND, team.agent_command of the config files is used; a
project's file counts only if it is trusted.

The call returns when the agent is active: a member of the team with a token of its
own. If it can't be started, nothing is left behind. {prompt}, {model}, {name} and
{port}, the port of the team's server, are replaced in COMMAND. Without {prompt} in
COMMAND, the prompt is typed once the agent waits for input. If that takes more than 3
minutes, or the agent asks something first, the prompt goes to the agent's inbox, with a
warning.

Flags that a known agent needs in a team are added to COMMAND: codex gets --no-daemon,
without which its tools have no rights in the team.`,
		Example: `  swarm agent spawn --team web --name alice -- claude
  swarm agent spawn --team web --role reviewer --prompt "review what is merged"
  swarm agent spawn --team web --name bob --worktree --branch fix/login --env-file .env -- codex
  swarm agent spawn --team web --backend process -- ./agent.sh "{name}"`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash > 0 || dash < 0 && len(args) > 0 {
				err := output.Usagef("unexpected argument '%s' before --", args[0])
				return output.WithHint(err, command.CommandHint(cmd, args))
			}
			o.in.Command = args
			o.in.Role = o.role.Value
			if err := o.check(cmd); err != nil {
				return err
			}
			return runSpawn(cmd.Context(), a, o)
		},
	}
	o.AddTo(cmd, a)
	f := cmd.Flags()
	f.StringVar(&o.in.Name, "name", "", "`NAME` in the team (default: one is made up)")
	o.role = command.Choice(cmd, "role", "role in the team", member.AgentRoles[0], member.AgentRoles...)
	f.StringVar(&o.in.Model, "model", "", "`MODEL` that the agent uses")
	f.StringVar(&o.in.Prompt, "prompt", "", "`TEXT` of its first prompt")
	f.StringVar(&o.in.Cwd, "cwd", "", "working directory `DIR` (default: this one)")
	o.workspace.AddTo(cmd, "the name of its worker")
	f.StringArrayVar(&o.in.Env, "env", nil, "variable for it, `KEY=VAL`; may be repeated")
	f.StringArrayVar(&o.in.EnvFile, "env-file", nil, "`FILE` of variables, a pipe, or - for stdin; may be repeated")
	f.StringArrayVar(&o.in.Tags, "tag", nil, "`TAG` for its worker; may be repeated")
	f.Var(command.Parsed(&o.in.ReadyPattern, "regexp", checkedPattern), "ready-pattern", "line of its screen, as a regular expression, before the prompt is typed")
	f.StringVar(&o.in.Profile, "profile", "", "`NAME` of its profile, or none (default: by its command)")
	o.limits.AddTo(cmd)
	o.box.AddTo(cmd)
	f.StringVar(&o.in.Backend, "backend", "", "`PLUGIN` that owns its worker (default: tmux)")
	return cmd
}

func (o *spawnOptions) check(cmd *cobra.Command) error {
	if err := o.workspace.Check(cmd); err != nil {
		return err
	}
	o.in.Worktree, o.in.Workspace = o.workspace.Default, o.workspace.Plugin
	o.in.Branch, o.in.WorkspaceOptions = o.workspace.Branch, o.workspace.Entries
	if o.in.ReadyPattern != "" && o.in.Prompt == "" {
		return output.Usagef("--ready-pattern needs --prompt: it says when that can be typed")
	}
	for _, entry := range o.in.Env {
		if _, _, err := command.KeyValue(entry); err != nil {
			return fmt.Errorf("invalid env format '%s' (expected KEY=VAL)", entry)
		}
	}
	if slices.Contains(o.in.Tags, "") {
		return output.Usagef("--tag is empty")
	}
	return nil
}

func checkedPattern(s string) (string, error) {
	_, err := regexp.Compile(s)
	return s, err
}

// promptWait is how long an agent may take to be ready for its prompt: on a busy machine,
// real agents draw for a minute.
const promptWait = 3 * time.Minute

func runSpawn(ctx context.Context, a *app.App, o *spawnOptions) error {
	output.FinishWriting()
	team, err := o.Of(ctx, a)
	if err != nil {
		return err
	}
	backend := cmp.Or(o.in.Backend, app.BackendTmux)
	loaded, err := a.LoadProjectFor(backend)
	if err != nil {
		return err
	}
	if o.in.Cwd != "" {
		if o.in.Cwd, err = app.WorkingDir(o.in.Cwd); err != nil {
			return err
		}
	}
	variables, err := app.ReadEnvFiles(ctx, o.in.EnvFile)
	if err != nil {
		return err
	}
	o.in.Env, o.in.EnvFile = append(variables, o.in.Env...), nil
	o.in.TeamName = team
	env := a.ToolEnv(loaded.Config)
	o.limits.Apply(&env.Limits)
	env.Own = setup.Decided(loaded).Or(o.limits.Own())
	env.Own.Sandbox = env.Own.Sandbox || o.box.Given()
	box, err := o.box.Of(loaded.Config.Defaults.Sandbox)
	if err != nil {
		return err
	}
	env.Sandbox = func(bool) *swarm.Sandbox { return box }
	if env.Dir, err = app.WorkingDir(""); err != nil && o.in.Cwd == "" {
		return err
	}
	env.PromptWait = promptWait
	env.WorkspaceParent, env.ReadEnv = setup.WorkspaceParent(loaded), config.ReadEnv
	out, err := tool.SpawnAgent.Do(ctx, env, o.in)
	return member.Answer(a, o.JSON, out, out.Warnings, err, func() {
		a.Printf("spawned agent %s (%s, %s, %s: %s)\n", out.Name, out.AgentID, out.Color, backend, out.Worker)
	})
}
