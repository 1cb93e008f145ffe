package task

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/tool"
)

func newClaim(a *app.App) *cobra.Command {
	f := &member.Flags{}
	cmd := &cobra.Command{
		Use:   "claim TASK",
		Short: "Claim a task",
		Long: `Claim a pending task: it becomes in_progress, and the caller owns it. If the task is
not pending, or waits for others, the call fails with the reason and exit code 1. If
several members claim a task at the same time, one gets it.`,
		Example: `  swarm task claim task-1
  swarm task claim task-1 --team web && ./work && swarm task update task-1 completed`,
		Args:              command.Arguments(1, 1, "id of a task"),
		ValidArgsFunction: member.CompleteTask(a, f, string(registry.TaskPending)),
		RunE: func(cmd *cobra.Command, args []string) error {
			output.FinishWriting()
			return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
				out, err := tool.TaskClaim(cmd.Context(), env, tool.TaskClaimInput{TeamName: team, TaskID: args[0]})
				return member.Answer(a, f.JSON, out, nil, err, func() {
					a.Printf("claimed %s (%s)\n", out.Task.ID, out.Task.Title)
					if out.Task.Description != "" {
						a.Printf("%s", output.Indented(out.Task.Description))
					}
				})
			})
		},
	}
	f.AddTo(cmd, a)
	return cmd
}
