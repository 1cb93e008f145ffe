package task

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/tool"
)

func newUpdate(a *app.App) *cobra.Command {
	f := &member.Flags{}
	var needs []string
	var assignee string
	cmd := &cobra.Command{
		Use:   "update TASK " + strings.Join(member.TaskStatuses, "|"),
		Short: "Change the status of a task",
		Long: `Change the status of a task: from pending to in_progress, which claims it, and from
in_progress to completed, which only its owner and the leader can do. There is no way
back. Setting the status that the task already has changes nothing.`,
		Example: `  swarm task update task-1 completed
  swarm task update task-4 pending --depends-on task-1 --depends-on task-2
  swarm task update task-5 pending --for alice`,
		Args: func(_ *cobra.Command, args []string) error {
			if err := command.Arguments(2, 2, "id of a task and its new status")(nil, args); err != nil {
				return err
			}
			if !slices.Contains(member.TaskStatuses, args[1]) {
				return output.Usagef("unknown status '%s' (expected one of %s)", args[1], strings.Join(member.TaskStatuses, ", "))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return member.TaskStatuses[1:], cobra.ShellCompDirectiveNoFileComp
			}
			return member.CompleteTask(a, f, string(registry.TaskPending), string(registry.TaskInProgress))(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			output.FinishWriting()
			return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
				out, err := tool.TaskUpdate.Do(cmd.Context(), env, tool.TaskUpdateInput{
					TeamName: team, TaskID: args[0], Status: args[1], Dependencies: needs, Assignee: assignee,
				})
				return member.Answer(a, f.JSON, out, nil, err, func() { a.Printf("%s is %s\n", out.Task.ID, out.Task.Status) })
			})
		},
	}
	f.AddTo(cmd, a)
	f.AddWaking(cmd)
	cmd.Flags().StringVar(&assignee, "for", "", "the `MEMBER` that a pending task is meant for from now on, by id or name, or \"all\"")
	command.CompleteFlag(cmd, "for", member.CompleteAgent(a, f, "leader", "all"))
	cmd.Flags().StringArrayVar(&needs, "depends-on", nil, "`ID` of a task to complete before, in place of the present ones; may be repeated")
	command.CompleteFlag(cmd, "depends-on", member.CompleteTask(a, f, member.TaskStatuses...))
	return cmd
}

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
				out, err := tool.TaskClaim.Do(cmd.Context(), env, tool.TaskClaimInput{TeamName: team, TaskID: args[0]})
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
