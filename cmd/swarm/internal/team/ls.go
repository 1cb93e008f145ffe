package team

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/humane"
)

func newLs(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls [flags]",
		Aliases: []string{"list"},
		Short:   "List teams",
		Long:    `List all teams, with the worker that leads each ("-": a person). Nothing is changed.`,
		Example: `  swarm team ls
  swarm team ls --json | jq -r '.[] | select(.agents == []) | .teamName'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runLs(cmd.Context(), a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the teams as JSON")
	return cmd
}

type teamJSON struct {
	TeamName    string `json:"teamName"`
	Description string `json:"description"`
	// LeaderWorker is the name of the worker that leads the team; null for a person.
	LeaderWorker *string  `json:"leaderWorker"`
	Agents       []string `json:"agents"`
	HasServer    bool     `json:"hasServer"`

	CreatedAt tool.Timestamp `json:"createdAt"`
}

func teamJSONOf(t agent.Team) teamJSON {
	return teamJSON{
		TeamName: t.Name, Description: t.Description, LeaderWorker: output.OrNull(t.Leader),
		Agents: append([]string{}, t.Agents...), HasServer: t.Server, CreatedAt: tool.Timestamp{Time: t.Created},
	}
}

func runLs(ctx context.Context, a *app.App, asJSON bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		teams, warnings, err := agent.Teams(ctx, h)
		if err != nil {
			return err
		}
		a.WarnAll(warnings)
		list := make([]teamJSON, len(teams))
		rows := make([][]string, len(teams))
		for i, t := range teams {
			list[i] = teamJSONOf(t)
			rows[i] = []string{t.Name, output.OrDash(t.Leader), strconv.Itoa(len(t.Agents)), humane.Age(time.Since(t.Created)) + " ago", output.OrDash(t.Description)}
		}
		if asJSON {
			return a.PrintJSON(list)
		}
		a.PrintTable([]string{"NAME", "LEADER", "AGENTS", "CREATED", "DESCRIPTION"}, rows)
		return nil
	})
}
