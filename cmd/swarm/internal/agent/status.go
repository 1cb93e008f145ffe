package agent

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
)

type statusOptions struct {
	member.Flags
	in tool.GetAgentStatusInput
}

func newStatus(a *app.App) *cobra.Command {
	o := &statusOptions{}
	cmd := &cobra.Command{
		Use:   "status [AGENT]",
		Short: "Show the status of one agent or of all",
		Long: `Show the status of one agent, by id or name, or of every agent of a team: what it is
doing, and when it gave its last sign of life, which is a heartbeat, a call of its own
or output. The status is checked now; nothing is changed. Any member may ask.

An agent that is silent for two minutes is inactive, unless it has reported that it is
idle; it keeps its tasks as long as its process lives.`,
		Example: `  swarm agent status --team web
  swarm agent status alice --team web --json | jq '.agents[0].heartbeatHealthy'
  swarm agent status --team web --server --terminated`,
		Args:              command.Arguments(0, 1, ""),
		ValidArgsFunction: member.CompleteAgent(a, &o.Flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if o.in.AgentID = args[0]; args[0] == "" {
					return output.Usagef("the agent is empty") // all of them were not meant
				}
			}
			return member.AsMember(cmd.Context(), a, &o.Flags, func(env tool.Env, team string) error {
				o.in.TeamName = team
				return runStatus(cmd.Context(), a, env, o)
			})
		},
	}
	o.AddTo(cmd, a)
	cmd.Flags().BoolVar(&o.in.IncludeServer, "server", false, "show the team's server too")
	cmd.Flags().BoolVar(&o.in.IncludeTerminated, "terminated", false, "show terminated agents too")
	return cmd
}

func runStatus(ctx context.Context, a *app.App, env tool.Env, o *statusOptions) error {
	out, err := tool.GetAgentStatus.Do(ctx, env, o.in)
	return member.Answer(a, o.JSON, out, out.Warnings, err, func() {
		now := time.Now()
		for i, agent := range out.Agents {
			if i > 0 {
				a.Printf("\n")
			}
			a.Printf("%s%s\n", member.Dot(a, agent.Color), member.AgentLine(agent))
			a.PrintTable(nil, member.AgentFacts(agent, now))
		}
		if out.Server != nil {
			a.Printf("\n%s\n", member.ServerLine(*out.Server, now))
		}
		if o.in.AgentID == "" {
			if len(out.Agents) > 0 || out.Server != nil {
				a.Printf("\n")
			}
			a.Printf("%s\n", member.SummaryLine(out.Summary))
		}
	})
}
