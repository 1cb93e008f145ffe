package team

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/team"
)

func newDelete(a *app.App) *cobra.Command {
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a team with its tasks and messages",
		Long: `Delete a team with its tasks and messages, and stop its server. A team with agents
that have not ended is not deleted, unless --force kills them.

The workers of its agents stay listed as stopped, with their logs, until they are
cleaned; their history stays for good. Only the leader can delete a team.`,
		Example: `  swarm team delete web
  swarm team delete web --force`,
		Args:              command.Arguments(1, 1, "name of a team"),
		ValidArgsFunction: app.OfferOne(a.TeamNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDelete(cmd.Context(), a, args[0], force, asJSON)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "kill the agents that have not ended")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return cmd
}

// teamDeleteJSON is in the manner of the tools' answers.
type teamDeleteJSON struct {
	Success  bool   `json:"success"`
	TeamName string `json:"teamName"`
	// KilledAgents are ids.
	KilledAgents []string `json:"killedAgents"`
	Warnings     []string `json:"warnings,omitempty"`
	Error        string   `json:"error,omitempty"`
}

func runDelete(ctx context.Context, a *app.App, name string, force, asJSON bool) error {
	output.FinishWriting()
	cfg := a.UserConfig()
	return a.With(ctx, cfg, func(h *host.Host) error {
		nameOf := member.Names(ctx, a.ToolEnv(cfg), name)
		deleted, err := agent.DeleteTeam(ctx, h, name, force)
		out := teamDeleteJSON{
			Success: err == nil, TeamName: name,
			KilledAgents: append([]string{}, deleted.Killed...), Warnings: deleted.Warnings,
		}
		if err != nil {
			out.Error = err.Error()
		}
		if _, ok := errors.AsType[*team.LiveAgentsError](err); ok {
			err = output.WithHint(err, "use --force to kill them")
		}
		err = member.Answer(a, asJSON, out, out.Warnings, err, func() {
			text := ""
			if len(deleted.Killed) > 0 {
				text = fmt.Sprintf(" (killed: %s)", strings.Join(output.List(deleted.Killed, nameOf), ", "))
			}
			a.Printf("deleted team %s%s\n", name, text)
		})
		return member.Afterwards(ctx, deleted.AfterAnswer, err)
	})
}
