package task

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "task",
		Short: "Create, claim, finish and list the tasks of a team",
		Long: `Create, claim, finish and list the tasks of a team. A task is pending, then
in_progress with a member as its owner, then completed. It never moves back, with one
exception: when an agent ends, its tasks in progress are pending again. A task that
depends on others can be claimed once these are completed. If several members claim a
task at the same time, one gets it.`,
		Example: `  swarm task create "write the parser" --team web --priority high
  swarm task create "test the parser" --team web --depends-on task-1
  swarm task claim task-1
  swarm task update task-1 completed
  swarm task ls --team web --status pending`,
	}, newCreate(a), newClaim(a), newUpdate(a), newLs(a))
}

func newCreate(a *app.App) *cobra.Command {
	f := &member.Flags{}
	var in tool.TaskCreateInput
	cmd := &cobra.Command{
		Use:   "create TITLE",
		Short: "Create a task",
		Long: `Create a pending task and print its id. Any member may do so. It can depend on
existing tasks.

With --for the task is meant for one member, and only that member and the leader can
claim it. If swarm knows the member's screen, it types a line about the task once the
agent is at its prompt and the task waits for no other.`,
		Example: `  swarm task create "write the parser" --team web --description "see grammar.md"
  swarm task create "test the parser" --team web --for alice
  swarm task create "release" --team web --depends-on task-1 --depends-on task-2`,
		Args:              command.OneText(1, "title of the task", `the title is one argument: swarm task create "TITLE"`),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.AddTo(cmd, a)
	f.AddWaking(cmd)
	cmd.Flags().StringVar(&in.Description, "description", "", "`TEXT` with more about it")
	cmd.Flags().StringVar(&in.Assignee, "for", "", "the `MEMBER` that it is meant for, by id or name (default: any)")
	command.CompleteFlag(cmd, "for", member.CompleteAgent(a, f, "leader"))
	priority := command.Choice(cmd, "priority", "how urgent it is", "normal", member.TaskPriorities...)
	cmd.Flags().StringArrayVar(&in.Dependencies, "depends-on", nil, "`ID` of a task that must be completed before; may be repeated")
	command.CompleteFlag(cmd, "depends-on", member.CompleteTask(a, f, member.TaskStatuses...))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		output.FinishWriting()
		return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
			in.TeamName, in.Title, in.Priority = team, args[0], priority.Value
			out, err := tool.TaskCreate.Do(cmd.Context(), env, in)
			return member.Answer(a, f.JSON, out, nil, err, func() { a.Printf("created %s\n", out.Task.ID) })
		})
	}
	return cmd
}

func newLs(a *app.App) *cobra.Command {
	f := &member.Flags{}
	var in tool.TaskListInput
	cmd := &cobra.Command{
		Use:     "ls [flags]",
		Aliases: []string{"list"},
		Short:   "List the tasks of a team",
		Long: `List the tasks of a team, the oldest first. NEEDS are the tasks that must be completed
before the task can be claimed; an OWNER in brackets is the member that it is meant for.
Any member may ask; nothing is changed.`,
		Example: `  swarm task ls --team web
  swarm task ls --team web --status in_progress --owner alice
  swarm task ls --json | jq -r '.tasks[] | select(.status == "pending") | .id'`,
		Args: command.Arguments(0, 0, ""),
	}
	f.AddTo(cmd, a)
	status := command.Choice(cmd, "status", "only tasks with this status", "", member.TaskStatuses...)
	cmd.Flags().StringVar(&in.Owner, "owner", "", "only tasks of this `MEMBER`, by id or name")
	command.CompleteFlag(cmd, "owner", member.CompleteAgent(a, f, "leader"))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
			in.TeamName, in.Status = team, status.Value
			out, err := tool.TaskList.Do(cmd.Context(), env, in)
			return member.Answer(a, f.JSON, out, nil, err, func() {
				rows := taskRows(out.Tasks, member.Names(cmd.Context(), env, team))
				a.PrintTable([]string{"ID", "STATUS", "PRIORITY", "OWNER", "NEEDS", "TITLE"}, rows)
			})
		})
	}
	return cmd
}

func taskRows(tasks []tool.Task, nameOf func(id string) string) [][]string {
	return output.List(tasks, func(t tool.Task) []string {
		return []string{t.ID, t.Status, t.Priority, ownerText(t, nameOf), output.OrDash(strings.Join(t.Dependencies, ",")), t.Title}
	})
}

// ownerText returns the owner of a task, or its assignee in brackets.
func ownerText(t tool.Task, nameOf func(id string) string) string {
	if t.Owner == "" && t.Assignee != "" {
		return "(" + nameOf(t.Assignee) + ")"
	}
	return output.OrDash(nameOf(t.Owner))
}
