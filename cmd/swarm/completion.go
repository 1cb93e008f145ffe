package main

import "github.com/spf13/cobra"

func newCompletion(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes commands, flags and worker names",
		Long: `Print a script for your shell that completes commands, flags and the names of
workers. Completing starts no plugin and changes nothing.`,
		Example: `  source <(swarm completion bash)                  # in ~/.bashrc
  swarm completion zsh > "${fpath[1]}/_swarm"
  swarm completion fish > ~/.config/fish/completions/swarm.fish`,
		Args:      arguments(1, 1, "bash, zsh or fish"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			default:
				return usagef("unknown shell '%s' (expected bash, zsh or fish)", args[0])
			}
		},
	}
}
