package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host/tool"
)

func newTaskLs(a *app) *cobra.Command {
	f := &memberFlags{}
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
		Args: arguments(0, 0, ""),
	}
	f.addTo(cmd, a)
	status := choice(cmd, "status", "only tasks with this status", "", taskStatuses...)
	cmd.Flags().StringVar(&in.Owner, "owner", "", "only tasks of this `MEMBER`, by id or name")
	completeFlag(cmd, "owner", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return a.completeAgent(f, "leader")(cmd, nil, prefix)
	})
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.asMember(cmd.Context(), f, func(env tool.Env, team string) error {
			in.TeamName, in.Status = team, status.value
			out, err := tool.TaskList(cmd.Context(), env, in)
			return a.answer(f.json, out, nil, err, func() {
				a.printTable(taskLsHeader, taskRows(out.Tasks, memberNames(cmd.Context(), env, team)))
			})
		})
	}
	return cmd
}

var taskLsHeader = []string{"ID", "STATUS", "PRIORITY", "OWNER", "NEEDS", "TITLE"}

func taskRows(tasks []tool.Task, nameOf func(id string) string) [][]string {
	rows := make([][]string, len(tasks))
	for i, t := range tasks {
		rows[i] = []string{t.ID, t.Status, t.Priority, ownerText(t, nameOf), orDash(strings.Join(t.Dependencies, ",")), t.Title}
	}
	return rows
}

// ownerText is who has a task, or who it is for, in brackets.
func ownerText(t tool.Task, nameOf func(id string) string) string {
	if t.Owner == "" && t.Assignee != "" {
		return "(" + nameOf(t.Assignee) + ")"
	}
	return orDash(nameOf(t.Owner))
}
