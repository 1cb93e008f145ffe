package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
)

// completeWorkers offers the names of all workers that are not on the line yet.
// It reads the registry only; no plugin is started for it.
func (a *app) completeWorkers(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	dir, err := a.stateDir()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := host.Names(cmd.Context(), dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeOneWorker is for verbs that take one name.
func (a *app) completeOneWorker(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeWorkers(cmd, args, prefix)
}

// completeHistory offers the names of all workers that the history knows, and of
// those that it does not know yet.
func (a *app) completeHistory(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	dir, err := a.stateDir()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	// What can be read is offered.
	names, _ := host.Names(cmd.Context(), dir)
	gone, _ := host.HistoryNames(cmd.Context(), dir)
	for _, name := range gone {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// profileNames returns the names of all profiles of agents.
func (a *app) profileNames() []string {
	set, _ := profile.Load(config.ProfileDir(a.getenv)) // those that can be read
	var names []string
	for _, p := range set.All() {
		names = append(names, p.Name())
	}
	return names
}

// completeProfile is for verbs that take the name of one profile.
func (a *app) completeProfile(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.profileNames(), cobra.ShellCompDirectiveNoFileComp
}

// completeFlag offers what f returns for a flag.
func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
}

// completeWith offers fixed words for a flag.
func completeWith(cmd *cobra.Command, flag string, words ...string) {
	completeFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
