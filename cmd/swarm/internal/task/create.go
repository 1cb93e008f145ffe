package task

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
)

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
