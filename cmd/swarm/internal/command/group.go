package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
)

// NewGroup makes a command that only has verbs below it.
func NewGroup(cmd *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
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
			return output.Usagef("missing command: one of %s", strings.Join(names, ", "))
		}
		return UnknownVerb(cmd, args)
	}
	return cmd
}

// UnknownVerb is the error for a word that names no command below cmd. Without a
// word, it shows the help.
func UnknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	err := &output.UsageError{Text: fmt.Sprintf("unknown command '%s'", strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "swarm "))}
	err.Hint = fmt.Sprintf("run '%s --help' for usage", cmd.CommandPath())
	if near := suggestVerb(cmd, args[0]); near != "" {
		err.Hint = fmt.Sprintf("did you mean '%s'?", near)
	}
	return err
}
