package app

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/tool"
)

// Offer completes with the names that list returns and that are not on the line yet. It
// offers nothing if list fails.
func Offer(list func(context.Context) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		names, err := list(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) })
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// OfferOne is [Offer] for a verb that takes one name.
func OfferOne(list func(context.Context) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return Offer(list)(cmd, args, typed)
	}
}

// CompleteWorkers offers the names of all workers that are not on the line yet.
// It reads the registry only; no plugin is started for it.
func (a *App) CompleteWorkers(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return Offer(a.workerNames)(cmd, args, typed)
}

// CompleteOneWorker is for verbs that take one name.
func (a *App) CompleteOneWorker(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return OfferOne(a.workerNames)(cmd, args, typed)
}

// CompleteOneWorkerPath is for verbs that take a path in one worker, as NAME:PATH, and paths of this machine.
func (a *App) CompleteOneWorkerPath(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	names, err := a.workerNames(cmd.Context())
	if len(args) > 1 || err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var offered []string
	for _, name := range names {
		if strings.HasPrefix(name, typed) && typed != "" {
			offered = append(offered, name+":")
		}
	}
	if len(offered) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return offered, cobra.ShellCompDirectiveNoSpace
}

func (a *App) workerNames(ctx context.Context) ([]string, error) {
	dir, err := a.StateDir()
	if err != nil {
		return nil, err
	}
	return store.Names(ctx, dir)
}

// HistoryNames returns the names of all workers in the history, and of those without an
// event yet, as far as they can be read.
func (a *App) HistoryNames(ctx context.Context) ([]string, error) {
	dir, err := a.StateDir()
	if err != nil {
		return nil, err
	}
	names, _ := store.Names(ctx, dir)
	gone, _ := store.HistoryNames(ctx, dir)
	for _, name := range gone {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// ProfileDirs returns the places of the profiles of agents.
func (a *App) ProfileDirs() profile.Dirs {
	d := profile.Dirs{Own: config.ProfileDir(a.Getenv)}
	if dir, err := a.StateDir(); err == nil {
		d.Bundle = statedir.Dir(dir).ProfileBundle()
	}
	return d
}

// ProfileNames returns the names of all profiles of agents.
func (a *App) ProfileNames() []string {
	set, _ := a.ProfileDirs().Load() // those that can be read
	return output.List(set.All(), (*profile.Profile).Name)
}

func (a *App) TeamNames(ctx context.Context) (names []string, err error) {
	err = a.With(ctx, config.Default(), func(h *host.Host) error {
		teams, _, err := agent.Teams(ctx, h)
		for _, t := range teams {
			names = append(names, t.Name)
		}
		return err
	})
	return names, err
}

// AgentNames returns the names of a team's agents.
func (a *App) AgentNames(ctx context.Context, team string) []string {
	out, _ := tool.GetAgentStatus.Do(ctx, a.ToolEnv(config.Default()), tool.GetAgentStatusInput{TeamName: team})
	return output.List(out.Agents, func(agent agent.Agent) string { return agent.Name })
}
