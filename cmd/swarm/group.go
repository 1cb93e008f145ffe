package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// newGroup makes a command that only has verbs below it.
func newGroup(cmd *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	var names []string
	for _, verb := range verbs {
		if !verb.Hidden {
			names = append(names, verb.Name())
		}
		verb.DisableFlagsInUseLine = true
		cmd.AddCommand(verb)
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("missing command: one of %s", strings.Join(names, ", "))
		}
		return unknownVerb(cmd, args)
	}
	return cmd
}
