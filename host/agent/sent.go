package agent

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

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
