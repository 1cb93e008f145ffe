package agent

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

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
