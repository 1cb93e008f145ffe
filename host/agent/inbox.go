package agent

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// AwaitMessage returns once the caller's inbox in a team has an unread message, which may
// be at once. It marks nothing as read.
func AwaitMessage(ctx context.Context, h *host.Host, teamName string) error {
	caller, err := h.Callers().Caller(ctx)
	if err != nil {
		return err
	}
	unread := func(ctx context.Context) (int, error) {
		return view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) (int, error) {
			return team.Unread(ctx, tx, caller, teamName)
		})
	}
	// Unread messages and errors end the call before it waits for changes.
	if n, err := unread(ctx); n > 0 || err != nil {
		return err
	}
	return h.Store().AwaitChange(ctx, func(ctx context.Context) (bool, error) {
		n, err := unread(ctx)
		return n > 0, err
	})
}

// UnreadMessages returns the unread messages of the caller's inbox in a team. It marks none
// as read.
func UnreadMessages(ctx context.Context, h *host.Host, teamName string) (team.Inbox, error) {
	return Look(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller) (team.Inbox, error) {
		return team.UnreadMessages(ctx, tx, caller, teamName)
	})
}

// Sent returns the last messages that the caller has sent to members of a team, the
// oldest one first, with their receipts. It changes nothing.
func Sent(ctx context.Context, h *host.Host, teamName string, limit int) ([]registry.Message, error) {
	return Look(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller) ([]registry.Message, error) {
		member, err := team.Member(ctx, tx, caller, teamName)
		if err != nil {
			return nil, err
		}
		return tx.Sent(ctx, registry.Membership{Team: teamName, Member: member}, limit)
	})
}
