package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/tool"
)

type killOptions struct {
	member.Flags
	in      tool.KillAgentInput
	wait    bool
	timeout *time.Duration
}

func newKill(a *app.App) *cobra.Command {
	o := &killOptions{}
	cmd := &cobra.Command{
		Use:   "kill AGENT",
		Short: "Ask an agent to end, or end it",
		Long: `Ask an agent, by id or name, to end. The agent gets a message, its status becomes
shutting_down, and this call returns at once; no signal is sent. If swarm knows the
agent's screen, it types how to answer once the agent is at its prompt. The agent
finishes its work and approves, or it rejects with a reason and continues: the next
call reports that once, and a later one asks again. An agent whose process is gone is
ended at once.

With --force the agent is ended at once, whatever it does: the whole tree of its
processes, as "swarm kill" does it. Processes that can't be ended are named in a
warning; the team continues without the agent.

Once an agent has ended, either way, its tasks in progress are pending again, its
colour is free, and it is no longer a member. If two callers force the end at the same
time, one wins. Only the leader can kill agents, and the leader can't be killed.

Exit code: 0 if the agent was asked or has ended. With --wait: 0 if it has ended, 1 if
it rejects, 124 if the time has run out. The request stays then, and the next call with
--wait waits for the same answer.`,
		Example: `  swarm agent kill alice --team web
  swarm agent kill alice --team web --reason "the work is done" --wait --timeout 5m
  swarm agent kill agent-a1b2c3 --team web --force`,
		Args:              command.Arguments(1, 1, "id or name of an agent"),
		ValidArgsFunction: member.CompleteAgent(a, &o.Flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.timeout != nil && !o.wait {
				return output.Usagef("--timeout needs --wait")
			}
			o.in.AgentID = args[0]
			return member.AsMember(cmd.Context(), a, &o.Flags, func(env tool.Env, name string) error {
				o.in.TeamName = name
				return runKill(cmd.Context(), a, env, o)
			})
		},
	}
	o.AddTo(cmd, a)
	o.AddWaking(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.in.Force, "force", false, "end it at once, without asking")
	f.StringVar(&o.in.Reason, "reason", "", "`TEXT` of the reason, which the agent reads")
	f.BoolVar(&o.wait, "wait", false, "wait for its answer")
	f.Var(command.Duration(&o.timeout), "timeout", "how long to wait at most")
	return cmd
}

func runKill(ctx context.Context, a *app.App, env tool.Env, o *killOptions) error {
	output.FinishWriting()
	out, err := tool.KillAgent.Do(ctx, env, o.in)
	asked := errors.Is(err, team.ErrInShutdown)
	if o.wait && (asked || err == nil && out.Phase == registry.ShutdownRequested) {
		switch {
		case asked:
			out.Success, out.Error = true, ""
			a.Hint(fmt.Sprintf("agent '%s' was asked before; waiting for its answer", o.in.AgentID))
		case !o.JSON:
			a.Printf("%s\n", killedAgentLine(o.in.AgentID, out))
		}
		err = awaitAnswer(ctx, a, env, o, &out)
	}
	err = member.Answer(a, o.JSON, out, out.Warnings, err, func() {
		a.Printf("%s\n", killedAgentLine(o.in.AgentID, out))
		if out.Phase == registry.ShutdownRejected {
			a.Hint("its reason is in the inbox; the next call asks again, --force does not ask")
		}
	})
	return member.Afterwards(ctx, out.AfterAnswer, err)
}

// awaitAnswer waits for the answer of an agent that was asked to end, and puts it
// into out. An agent that does not end is an error.
func awaitAnswer(ctx context.Context, a *app.App, env tool.Env, o *killOptions, out *tool.KillAgentOutput) error {
	waiting, cancel := command.Limit(ctx, o.timeout)
	defer cancel()
	h, err := env.Open(ctx)
	if err != nil {
		return err
	}
	killed, err := agent.AwaitAnswer(waiting, h, o.in.TeamName, o.in.AgentID)
	if err = errors.Join(err, h.Close()); err != nil {
		return cmp.Or(command.Over(waiting, err), err)
	}
	out.Phase = killed.Phase
	out.ReassignedTasks = append(out.ReassignedTasks, killed.ReassignedTasks...)
	out.Warnings = append(out.Warnings, killed.Warnings...)
	if out.Phase == registry.ShutdownRejected {
		return errors.New(member.WithReason(fmt.Sprintf("agent '%s' rejected the shutdown", o.in.AgentID), killed.Reason))
	}
	return nil
}

func killedAgentLine(name string, out tool.KillAgentOutput) string {
	name = output.Visible(name)
	switch out.Phase {
	case registry.ShutdownForceKilled:
		return "killed " + name + member.ReassignedText(out.ReassignedTasks, "force")
	case registry.ShutdownConfirmed:
		return "killed " + name + member.ReassignedText(out.ReassignedTasks)
	case registry.ShutdownRejected:
		return name + " rejected the shutdown"
	case registry.ShutdownApproved:
		return name + " approved the shutdown and continues until it is ready"
	default:
		return "requested shutdown of " + name
	}
}
