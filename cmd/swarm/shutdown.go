package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host/tool"
)

func newShutdown(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "shutdown",
		Short: "Answer a shutdown request from inside an agent",
		Long: `Answer the shutdown request that the leader made with "swarm agent kill". Only the
agent that was asked can answer.`,
		Example: `  swarm shutdown approve
  swarm shutdown approve --not-ready
  swarm shutdown reject "the migration is half done"`,
	}, newShutdownApprove(a), newShutdownReject(a))
}

func newShutdownApprove(a *app) *cobra.Command {
	f := &memberFlags{}
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
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.respondShutdown(cmd.Context(), f, tool.RespondShutdownInput{Approve: true, Ready: !notReady})
		},
	}
	f.addTo(cmd, a)
	cmd.Flags().BoolVar(&notReady, "not-ready", false, "there is work to finish first")
	return cmd
}

func newShutdownReject(a *app) *cobra.Command {
	f := &memberFlags{}
	cmd := &cobra.Command{
		Use:   "reject [REASON]",
		Short: "Refuse to end",
		Long: `Refuse to end. The agent continues, and the leader gets the reason; the leader may ask
again, or force the end.`,
		Example: `  swarm shutdown reject "the migration is half done"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{text: "unexpected argument '" + args[1] + "'", hint: `the reason is one argument: swarm shutdown reject "REASON"`}
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			in := tool.RespondShutdownInput{Ready: true}
			if len(args) > 0 {
				in.Reason = args[0]
			}
			return a.respondShutdown(cmd.Context(), f, in)
		},
	}
	f.addTo(cmd, a)
	return cmd
}

func (a *app) respondShutdown(ctx context.Context, f *memberFlags, in tool.RespondShutdownInput) error {
	finishWriting()
	return a.asMember(ctx, f, func(env tool.Env, team string) error {
		in.TeamName = team
		out, err := tool.RespondShutdown(ctx, env, in)
		err = a.answer(f.json, out, out.Warnings, err, func() { a.printf("%s\n", respondedLine(out)) })
		return afterwards(ctx, out.AfterAnswer, err)
	})
}

func respondedLine(out tool.RespondShutdownOutput) string {
	switch out.Phase {
	case phaseConfirmed:
		return "shutting down" + reassignedText(out.ReassignedTasks)
	case phaseApproved:
		return "approved; run 'swarm shutdown approve' when you are ready"
	default:
		return out.Phase
	}
}
