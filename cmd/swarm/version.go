package main

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
)

func newVersion(a *app) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if json {
				return a.printJSON(setup.ReadBuild())
			}
			a.printf("%s\n", setup.ReadBuild())
			return nil
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print it as JSON")
	return cmd
}
