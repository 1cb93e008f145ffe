package system

import (
	"bytes"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
)

func NewCompletion(a *app.App) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes commands, flags and worker names",
		Long: `Print a script for your shell that completes commands, flags and their values, the
names of workers, and the command that a worker runs. Completing starts no plugin
and changes nothing.`,
		Example: `  source <(swarm completion bash)                  # in ~/.bashrc
  swarm completion zsh > "${fpath[1]}/_swarm"
  swarm completion fish > ~/.config/fish/completions/swarm.fish`,
		Args:      command.Arguments(1, 1, "bash, zsh or fish"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return bashCompletion(a, root)
			case "zsh":
				return root.GenZshCompletion(a.Out)
			case "fish":
				return root.GenFishCompletion(a.Out, true)
			default:
				return output.Usagef("unknown shell '%s' (expected bash, zsh or fish)", args[0])
			}
		},
	}
}

// Cobra's script needs functions of the bash-completion package, and is silent about
// it: without them the first completion fails with the name of a function.
const (
	bashStart = `    # Call _init_completion from the bash-completion package
    # to prepare the arguments properly
`
	bashCheck = `    if ! declare -F _init_completion >/dev/null && ! declare -F _get_comp_words_by_ref >/dev/null; then
        if [[ -z ${__swarm_warned-} ]]; then
            __swarm_warned=1
            printf '\nswarm: completion needs the package bash-completion: install it and start a new shell\n' >&2
        fi
        return
    fi

`
	bashOther = `# Macs have bash3 for which the bash-completion package doesn't include
# _init_completion. This is a minimal version of that function.
`
)

// bashCompletion prints cobra's script with a check for the functions that it needs.
func bashCompletion(a *app.App, root *cobra.Command) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	script := b.String()
	if strings.Count(script, bashStart) != 1 || strings.Count(script, bashOther) != 1 {
		return errors.New("cannot print the script for bash: the library has changed it")
	}
	script = strings.Replace(script, bashOther, "", 1)
	a.Printf("%s", output.Made(strings.Replace(script, bashStart, bashCheck, 1)))
	return nil
}
