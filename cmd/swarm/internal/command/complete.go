package command

import (
	"github.com/spf13/cobra"
)

// CompleteFlag offers what f returns for a flag.
func CompleteFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
}

// CompleteWith offers fixed words for a flag.
func CompleteWith(cmd *cobra.Command, flag string, words ...string) {
	CompleteFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
