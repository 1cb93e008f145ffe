package tool

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/tool"
)

type tasksOptions struct {
	all, json bool
	session   sessionFlag
}

// sessionFlag is the session whose background shells are listed. It is empty only if it was
// not given: an empty value, as from an unset variable in a script, is refused.
type sessionFlag string

func (f *sessionFlag) addTo(cmd *cobra.Command, usage string) {
	cmd.Flags().Var(command.Parsed(f, "SESSION", func(s string) (sessionFlag, error) {
		if s == "" {
			return "", errors.New("expected a label, or the pid of a process")
		}
		return sessionFlag(s), nil
	}), "session", usage)
	command.CompleteWith(cmd, "session")
}

// parseInto sets the session of env, if one was given.
func (f sessionFlag) parseInto(env *tool.Env) (err error) {
	if f != "" {
		env.Session, err = shell.ParseSession(string(f))
	}
	return err
}

func NewTasks(a *app.App) *cobra.Command {
	o := &tasksOptions{}
	cmd := &cobra.Command{
		Use:   "tasks [flags]",
		Short: "List the background shells that agents run",
		Long: `List the background shells that the tool Bash started: those of the session that
--session names, else those of the worker in which this call runs, else all.
With --all, shells that ended within the last hour are listed too. Nothing is changed.

"swarm task" is about the tasks of a team.`,
		Example: `  swarm tasks
  swarm tasks --all --session ci
  swarm tasks --json | jq -r '.tasks[].output_file'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runTasks(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "list shells that ended within the last hour too")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer as JSON")
	o.session.addTo(cmd, "only those of this `SESSION`: a label, or the pid of its process")
	return cmd
}

func runTasks(ctx context.Context, a *app.App, o *tasksOptions) error {
	env := a.ToolEnv(a.UserConfig())
	if err := o.session.parseInto(&env); err != nil {
		return err
	}
	out, err := tool.Tasks.Do(ctx, env, tool.TasksInput{All: o.all})
	return member.Answer(a, o.json, out, nil, err, func() { printTasks(a, out, o.all) })
}

func printTasks(a *app.App, out tool.TasksOutput, all bool) {
	title := "Active Background Tasks:"
	if all {
		title = "Background Tasks:"
	}
	a.Printf("%s", output.Made(tasksTable(title, out.Tasks, time.Now(), a.OutWidth())))
}
