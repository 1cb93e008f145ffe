package app

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/tool"
)

// CompleteWorkers offers the names of all workers that are not on the line yet.
// It reads the registry only; no plugin is started for it.
func (a *App) CompleteWorkers(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	dir, err := a.StateDir()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := store.Names(cmd.Context(), dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteOneWorker is for verbs that take one name.
func (a *App) CompleteOneWorker(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.CompleteWorkers(cmd, args, prefix)
}

// CompleteHistory offers the names of all workers in the history, and of those without an
// event yet.
func (a *App) CompleteHistory(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	dir, err := a.StateDir()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	// The values that can be read are offered.
	names, _ := store.Names(cmd.Context(), dir)
	gone, _ := store.HistoryNames(cmd.Context(), dir)
	for _, name := range gone {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// ProfileNames returns the names of all profiles of agents.
func (a *App) ProfileNames() []string {
	set, _ := profile.Load(config.ProfileDir(a.Getenv)) // those that can be read
	var names []string
	for _, p := range set.All() {
		names = append(names, p.Name())
	}
	return names
}

// CompleteProfile is for verbs that take the name of one profile.
func (a *App) CompleteProfile(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.ProfileNames(), cobra.ShellCompDirectiveNoFileComp
}

// CompleteTeams offers the names of all teams.
func (a *App) CompleteTeams(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.teamNames(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
}

// CompleteOneTeam is for verbs that take one name.
func (a *App) CompleteOneTeam(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.teamNames(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
}

func (a *App) teamNames(ctx context.Context) []string {
	h, err := a.Setup().Open(ctx, config.Default())
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

// AgentNames returns the names of a team's agents.
func (a *App) AgentNames(ctx context.Context, team string) []string {
	out, _ := tool.GetAgentStatus.Do(ctx, a.ToolEnv(config.Default()), tool.GetAgentStatusInput{TeamName: team})
	names := make([]string, len(out.Agents))
	for i, agent := range out.Agents {
		names[i] = agent.Name
	}
	return names
}
