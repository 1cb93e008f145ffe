package main

import (
	"os"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
)

// Every flag with a value, and every command with arguments, says what completes it:
// what does not would complete files.
func TestEveryFlagIsCompleted(t *testing.T) {
	t.Parallel()
	root := newRoot(app.New(os.Stdout, os.Stderr, nil), cobra.ShellCompRequestCmd, "")
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok && f.NoOptDefVal == "" {
				t.Errorf("%s --%s", cmd.CommandPath(), f.Name)
			}
		})
		if !cmd.HasSubCommands() && cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil {
			t.Errorf("%s completes its arguments with files", cmd.UseLine())
		}
		for _, verb := range cmd.Commands() {
			look(verb)
		}
	}
	look(root)
}
