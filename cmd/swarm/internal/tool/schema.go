package tool

import (
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
)

func newSchema(a *app.App) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "schema NAME | --all",
		Short: "Print the JSON Schemas of a tool",
		Long: `Print the input and the output of a tool as JSON Schemas, in the form in which the
Model Context Protocol lists tools. Every answer fits its schema, also the answer to
wrong input.`,
		Example: `  swarm tool schema kill-agent | jq .inputSchema
  swarm tool schema notes.search
  swarm tool schema --all > tools.schema.json`,
		Args:              command.Arguments(0, 1, "name of a tool"),
		ValidArgsFunction: completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return output.Usagef("a name and --all exclude each other")
			case all:
				return a.PrintJSON(struct {
					Tools []toolSchema `json:"tools"`
				}{output.List(allTools(cmd.Context(), a), toolSchemaOf)})
			case len(args) == 0:
				return output.Usagef("missing argument: name of a tool, or --all")
			}
			t, err := findTool(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			return a.PrintJSON(toolSchemaOf(t))
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all tools")
	return cmd
}

type toolSchema struct {
	Name         string             `json:"name"`
	Title        string             `json:"title"`
	Description  string             `json:"description"`
	Annotations  toolAnnotations    `json:"annotations"`
	InputSchema  *jsonschema.Schema `json:"inputSchema"`
	OutputSchema *jsonschema.Schema `json:"outputSchema"`
}

type toolAnnotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
}

func toolSchemaOf(t tool.Tool) toolSchema {
	return toolSchema{
		Name: t.Name, Title: t.Title, Description: t.Description,
		Annotations:  toolAnnotations{ReadOnly: t.ReadOnly, Destructive: t.Destructive, Idempotent: t.Idempotent},
		InputSchema:  t.Input(),
		OutputSchema: t.Output(),
	}
}
