package main

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host/tool"
)

func newTaskCreate(a *app) *cobra.Command {
	f := &memberFlags{}
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
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{text: "unexpected argument '" + args[1] + "'", hint: `the title is one argument: swarm task create "TITLE"`}
			}
			return arguments(1, 1, "title of the task")(nil, args)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.addTo(cmd, a)
	f.addWaking(cmd)
	cmd.Flags().StringVar(&in.Description, "description", "", "`TEXT` with more about it")
	cmd.Flags().StringVar(&in.Assignee, "for", "", "the `MEMBER` that it is meant for, by id or name (default: any)")
	completeFlag(cmd, "for", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return a.completeAgent(f, "leader")(cmd, nil, prefix)
	})
	priority := choice(cmd, "priority", "how urgent it is", "normal", taskPriorities...)
	cmd.Flags().StringArrayVar(&in.Dependencies, "depends-on", nil, "`ID` of a task that must be completed before; may be repeated")
	completeFlag(cmd, "depends-on", a.completeNeeds(f))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		finishWriting()
		return a.asMember(cmd.Context(), f, func(env tool.Env, team string) error {
			in.TeamName, in.Title, in.Priority = team, args[0], priority.value
			out, err := tool.TaskCreate(cmd.Context(), env, in)
			return a.answer(f.json, out, nil, err, func() { a.printf("created %s\n", out.Task.ID) })
		})
	}
	return cmd
}
