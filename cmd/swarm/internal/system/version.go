package system

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
)

func NewVersion(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  command.Arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if json {
				return a.PrintJSON(setup.ReadBuild())
			}
			a.Printf("%s\n", setup.ReadBuild())
			return nil
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print it as JSON")
	return cmd
}
