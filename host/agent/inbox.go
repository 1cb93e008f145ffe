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
	caller, err := h.Caller(ctx)
	if err != nil {
		return err
	}
	unread := func(ctx context.Context) (n int, err error) {
		err = view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) error {
			n, err = team.Unread(ctx, tx, caller, teamName)
			return err
		})
		return n, err
	}
	// Unread messages and errors end the call before it waits for changes.
	if n, err := unread(ctx); n > 0 || err != nil {
		return err
	}
	return h.AwaitChange(ctx, func(ctx context.Context) (bool, error) {
		n, err := unread(ctx)
		return n > 0, err
	})
}

// UnreadMessages returns the unread messages of the caller's inbox in a team. It marks none
// as read.
func UnreadMessages(ctx context.Context, h *host.Host, teamName string) (team.Inbox, error) {
	caller, err := h.Caller(ctx)
	if err != nil {
		return team.Inbox{}, err
	}
	var inbox team.Inbox
	err = view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) (err error) {
		inbox, err = team.UnreadMessages(ctx, tx, caller, teamName)
		return err
	})
	return inbox, err
}

// Sent returns the last messages that the caller has sent to members of a team, the
// oldest one first, with their receipts. It changes nothing.
func Sent(ctx context.Context, h *host.Host, teamName string, limit int) (messages []registry.Message, err error) {
	caller, err := h.Caller(ctx)
	if err != nil {
		return nil, err
	}
	err = view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) error {
		member, err := team.Member(ctx, tx, caller, teamName)
		if err == nil {
			messages, err = tx.Sent(ctx, registry.Membership{Team: teamName, Member: member}, limit)
		}
		return err
	})
	return messages, err
}
