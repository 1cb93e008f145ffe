package agent

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/profiles"
	"github.com/swarmhost/swarm/host/tool"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "agent",
		Short: "Start, show and end the agents of a team",
		Long: `Start, show and end the agents of a team. An agent is a worker that belongs to a
team and has an id, a name, a role and a colour there. It finds its team in
$SWARM_TEAM. Its calls are made in its name: swarm knows it by the token in its
environment, or by the worker that the call comes from.

Only the leader starts and ends agents: a person, the worker that created the team, or
an agent with the role leader. "swarm kill" obeys the same rule for the workers of
agents; "logs", "attach" and the like work on them as on any other worker.`,
		Example: `  swarm agent spawn --team web --name alice --prompt "claim a task" -- claude "{prompt}"
  swarm agent status --team web
  swarm agent kill alice --team web --reason "we are done" --wait
  swarm agent kill alice --team web --force`,
	}, newSpawn(a), newStatus(a), newLs(a), newKill(a), profiles.NewList(a, "profiles", "  swarm agent profiles\n  swarm agent profiles codex"))
}

func newLs(a *app.App) *cobra.Command {
	f := &member.Flags{}
	var in tool.GetAgentStatusInput
	cmd := &cobra.Command{
		Use:     "ls [flags]",
		Aliases: []string{"list"},
		Short:   "List the agents of a team",
		Long: `List the agents of a team, the oldest first. Their status is checked now; nothing is
changed. With --json it prints the same as "swarm agent status".`,
		Example: `  swarm agent ls --team web
  swarm agent ls --team web --json | jq -r '.agents[].name'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
				in.TeamName = team
				out, err := tool.GetAgentStatus.Do(cmd.Context(), env, in)
				return member.Answer(a, f.JSON, out, out.Warnings, err, func() { member.PrintAgents(a, out.Agents) })
			})
		},
	}
	f.AddTo(cmd, a)
	cmd.Flags().BoolVar(&in.IncludeTerminated, "terminated", false, "list terminated agents too")
	return cmd
}

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
