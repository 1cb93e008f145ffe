package shutdown

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/tool"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "shutdown",
		Short: "Answer a shutdown request from inside an agent",
		Long: `Answer the shutdown request that the leader made with "swarm agent kill". Only the
agent that was asked can answer.`,
		Example: `  swarm shutdown approve
  swarm shutdown approve --not-ready
  swarm shutdown reject "the migration is half done"`,
	}, newShutdownApprove(a), newShutdownReject(a))
}

func newShutdownApprove(a *app.App) *cobra.Command {
	f := &member.Flags{}
	var notReady bool
	cmd := &cobra.Command{
		Use:   "approve [flags]",
		Short: "Agree to end, now or once the work is done",
		Long: `Agree to end, and end: tasks in progress become pending again, the agent is no longer
a member, and its processes end after this answer, as "swarm kill" does it.

With --not-ready the agent continues and finishes its work; it calls this again,
without the flag, when it is ready.`,
		Example: `  swarm shutdown approve
  swarm shutdown approve --not-ready`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return respondShutdown(cmd.Context(), a, f, tool.RespondShutdownInput{Approve: true, Ready: !notReady})
		},
	}
	f.AddTo(cmd, a)
	cmd.Flags().BoolVar(&notReady, "not-ready", false, "there is work to finish first")
	return cmd
}

func newShutdownReject(a *app.App) *cobra.Command {
	f := &member.Flags{}
	cmd := &cobra.Command{
		Use:   "reject [REASON]",
		Short: "Refuse to end",
		Long: `Refuse to end. The agent continues, and the leader gets the reason; the leader may ask
again, or force the end.`,
		Example:           `  swarm shutdown reject "the migration is half done"`,
		Args:              command.OneText(0, "", `the reason is one argument: swarm shutdown reject "REASON"`),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			in := tool.RespondShutdownInput{Ready: true}
			if len(args) > 0 {
				in.Reason = args[0]
			}
			return respondShutdown(cmd.Context(), a, f, in)
		},
	}
	f.AddTo(cmd, a)
	return cmd
}

func respondShutdown(ctx context.Context, a *app.App, f *member.Flags, in tool.RespondShutdownInput) error {
	output.FinishWriting()
	return member.AsMember(ctx, a, f, func(env tool.Env, team string) error {
		in.TeamName = team
		out, err := tool.RespondShutdown.Do(ctx, env, in)
		err = member.Answer(a, f.JSON, out, out.Warnings, err, func() { a.Printf("%s\n", respondedLine(out)) })
		return member.Afterwards(ctx, out.AfterAnswer, err)
	})
}

func respondedLine(out tool.RespondShutdownOutput) string {
	switch out.Phase {
	case registry.ShutdownConfirmed:
		return "shutting down" + member.ReassignedText(out.ReassignedTasks)
	case registry.ShutdownApproved:
		return "approved; run 'swarm shutdown approve' when you are ready"
	default:
		return string(out.Phase)
	}
}
