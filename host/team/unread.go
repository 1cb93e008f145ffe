package team

import (
	"context"

	"github.com/swarmhost/swarm/host/registry"
)

// UnreadMessages returns the caller's messages that nobody has read, the oldest first. Other than
// [Read] it marks none of them.
func UnreadMessages(ctx context.Context, tx *registry.Tx, caller Caller, team string) (Inbox, error) {
	member, err := Member(ctx, tx, caller, team)
	if err != nil {
		return Inbox{}, err
	}
	messages, more, err := tx.Messages(ctx, registry.MessageQuery{
		Team: team, Recipient: member, Unread: true, Limit: maxMessages, Bytes: maxInbox,
	})
	return Inbox{Messages: messages, Remaining: more}, err
}
