package config

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
)

func newSchema(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the config files",
		Long: `Print the JSON Schema of swarm.toml and of the user's config file. Editors complete
and check a file whose first line names it:

  #:schema ./swarm.schema.json`,
		Example: `  swarm config schema > swarm.schema.json
  taplo check --schema "file://$PWD/swarm.schema.json" swarm.toml`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			schema, err := config.JSONSchema()
			if err != nil {
				return err
			}
			a.Printf("%s", output.Made(schema))
			return nil
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print it as JSON, which is the default")
	return cmd
}
