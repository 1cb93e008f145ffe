package inside

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/tool"
)

func NewHeartbeat(a *app.App) *cobra.Command {
	f := &member.Flags{}
	cmd := &cobra.Command{
		Use:   "heartbeat [flags]",
		Short: "Report from inside an agent that it is alive",
		Long: `Report that the calling agent is alive, and what it is doing. Any other call of the
agent that changes something, and output to its terminal, count as well: only an
agent that is silent for long needs this.

An agent that gives no sign of life for two minutes becomes inactive and the leader
gets a message, unless the agent has reported --status idle. The next sign of life
makes it active again.`,
		Example: `  swarm heartbeat
  swarm heartbeat --status idle && swarm inbox wait`,
		Args: command.Arguments(0, 0, ""),
	}
	f.AddTo(cmd, a)
	status := command.Choice(cmd, "status", "what the agent is doing (default: as before)", "", string(team.Active), string(team.Idle))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		output.FinishWriting()
		return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
			out, err := tool.Heartbeat(cmd.Context(), env, tool.HeartbeatInput{TeamName: team, Status: status.Value})
			return member.Answer(a, f.JSON, out, nil, err, func() {
				left := out.NextDeadline.Sub(out.HeartbeatTS.Time)
				a.Printf("%s; next heartbeat due in %s\n", out.AgentStatus, config.FormatDuration(left.Round(time.Second)))
			})
		})
	}
	return cmd
}
