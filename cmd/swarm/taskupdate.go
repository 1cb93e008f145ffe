package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host/tool"
)

func newTaskUpdate(a *app) *cobra.Command {
	f := &memberFlags{}
	var needs []string
	var assignee string
	cmd := &cobra.Command{
		Use:   "update TASK " + strings.Join(taskStatuses, "|"),
		Short: "Change the status of a task",
		Long: `Change the status of a task: from pending to in_progress, which claims it, and from
in_progress to completed, which only its owner and the leader can do. There is no way
back. Setting the status that the task already has changes nothing.`,
		Example: `  swarm task update task-1 completed
  swarm task update task-4 pending --depends-on task-1 --depends-on task-2
  swarm task update task-5 pending --for alice`,
		Args: func(_ *cobra.Command, args []string) error {
			if err := arguments(2, 2, "id of a task and its new status")(nil, args); err != nil {
				return err
			}
			if !slices.Contains(taskStatuses, args[1]) {
				return usagef("unknown status '%s' (expected one of %s)", args[1], strings.Join(taskStatuses, ", "))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return taskStatuses[1:], cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeTask(f, "pending", "in_progress")(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			finishWriting()
			return a.asMember(cmd.Context(), f, func(env tool.Env, team string) error {
				out, err := tool.TaskUpdate(cmd.Context(), env, tool.TaskUpdateInput{
					TeamName: team, TaskID: args[0], Status: args[1], Dependencies: needs, Assignee: assignee,
				})
				return a.answer(f.json, out, nil, err, func() { a.printf("%s is %s\n", out.Task.ID, out.Task.Status) })
			})
		},
	}
	f.addTo(cmd, a)
	f.addWaking(cmd)
	cmd.Flags().StringVar(&assignee, "for", "", "the `MEMBER` that a pending task is meant for from now on, by id or name, or \"all\"")
	completeFlag(cmd, "for", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return a.completeAgent(f, "leader", "all")(cmd, nil, prefix)
	})
	cmd.Flags().StringArrayVar(&needs, "depends-on", nil, "`ID` of a task to complete before, in place of the present ones; may be repeated")
	completeFlag(cmd, "depends-on", a.completeNeeds(f))
	return cmd
}
