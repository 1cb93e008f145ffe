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
