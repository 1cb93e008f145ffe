package member

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/tool"
)

// Completions are read from the registry; no plugin is started, and what
// can't be read is not offered.

// CompleteAgent offers the names of a team's agents to a verb that takes one; the
// words come first.
func CompleteAgent(a *app.App, f *Flags, words ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		team, err := f.Of(cmd.Context(), a)
		if len(args) > 0 || err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return append(slices.Clone(words), a.AgentNames(cmd.Context(), team)...), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteTask offers a team's tasks of one of these statuses, with their titles, to
// a verb that takes one.
func CompleteTask(a *app.App, f *Flags, statuses ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		team, err := f.Of(cmd.Context(), a)
		if len(args) > 0 || err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []string
		out, _ := tool.TaskList.Do(cmd.Context(), a.ToolEnv(config.Default()), tool.TaskListInput{TeamName: team})
		for _, t := range out.Tasks {
			if slices.Contains(statuses, t.Status) {
				ids = append(ids, cobra.CompletionWithDesc(t.ID, output.Visible(t.Title)))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteNeeds is CompleteTask for a flag that names any task.
func CompleteNeeds(a *app.App, f *Flags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return CompleteTask(a, f, TaskStatuses...)(cmd, nil, prefix)
	}
}
