package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/tool"
)

// What is offered here is read from the registry; no plugin is started, and what
// can't be read is not offered.

// completeTeams offers the names of all teams.
func (a *app) completeTeams(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.teamNames(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
}

// completeOneTeam is for verbs that take one name.
func (a *app) completeOneTeam(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.teamNames(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) teamNames(ctx context.Context) []string {
	h, err := a.setup().Open(ctx, config.Default())
	if err != nil {
		return nil
	}
	defer h.Leave() //nolint:errcheck // nothing was written
	teams, _, err := agent.Teams(ctx, h)
	if err != nil {
		return nil
	}
	names := make([]string, len(teams))
	for i, t := range teams {
		names[i] = t.Name
	}
	return names
}

// completeAgent offers the names of a team's agents to a verb that takes one; the
// words come first.
func (a *app) completeAgent(f *memberFlags, words ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		team, err := f.of(cmd.Context(), a)
		if len(args) > 0 || err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return append(slices.Clone(words), a.agentNames(cmd.Context(), team)...), cobra.ShellCompDirectiveNoFileComp
	}
}

// agentNames returns the names of a team's agents.
func (a *app) agentNames(ctx context.Context, team string) []string {
	out, _ := tool.GetAgentStatus(ctx, a.toolEnv(config.Default()), tool.GetAgentStatusInput{TeamName: team})
	names := make([]string, len(out.Agents))
	for i, agent := range out.Agents {
		names[i] = agent.Name
	}
	return names
}

// completeTask offers a team's tasks of one of these statuses, with their titles, to
// a verb that takes one.
func (a *app) completeTask(f *memberFlags, statuses ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		team, err := f.of(cmd.Context(), a)
		if len(args) > 0 || err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []string
		out, _ := tool.TaskList(cmd.Context(), a.toolEnv(config.Default()), tool.TaskListInput{TeamName: team})
		for _, t := range out.Tasks {
			if slices.Contains(statuses, t.Status) {
				ids = append(ids, cobra.CompletionWithDesc(t.ID, visible(t.Title)))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNeeds is completeTask for a flag that names any task.
func (a *app) completeNeeds(f *memberFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return a.completeTask(f, taskStatuses...)(cmd, nil, prefix)
	}
}
