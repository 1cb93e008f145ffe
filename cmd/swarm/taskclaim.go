package main

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host/tool"
)

func newTaskClaim(a *app) *cobra.Command {
	f := &memberFlags{}
	cmd := &cobra.Command{
		Use:   "claim TASK",
		Short: "Claim a task",
		Long: `Claim a pending task: it becomes in_progress, and the caller owns it. If the task is
not pending, or waits for others, the call fails with the reason and exit code 1. If
several members claim a task at the same time, one gets it.`,
		Example: `  swarm task claim task-1
  swarm task claim task-1 --team web && ./work && swarm task update task-1 completed`,
		Args:              arguments(1, 1, "id of a task"),
		ValidArgsFunction: a.completeTask(f, "pending"),
		RunE: func(cmd *cobra.Command, args []string) error {
			finishWriting()
			return a.asMember(cmd.Context(), f, func(env tool.Env, team string) error {
				out, err := tool.TaskClaim(cmd.Context(), env, tool.TaskClaimInput{TeamName: team, TaskID: args[0]})
				return a.answer(f.json, out, nil, err, func() {
					a.printf("claimed %s (%s)\n", out.Task.ID, out.Task.Title)
					if out.Task.Description != "" {
						a.printf("%s", indented(out.Task.Description))
					}
				})
			})
		},
	}
	f.addTo(cmd, a)
	return cmd
}
