package client

import (
	"context"
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Notifier is a notifier in another process. It implements [swarm.Notifier]; see [Backend] for
// errors.
type Notifier struct {
	client *Client
	rpc    pb.NotifierClient
}

var _ swarm.Notifier = (*Notifier)(nil)

// Notifier returns the notifier, or nil if the plugin is of another kind.
func (c *Client) Notifier() *Notifier {
	if c.info.Kind != KindNotifier {
		return nil
	}
	return &Notifier{client: c, rpc: pb.NewNotifierClient(c.conn)}
}

// noReason is why an event is to be delivered later if the plugin says none, or has answered with
// an outcome that this host does not know.
const noReason = "the plugin gave no reason"

// Notify implements [swarm.Notifier]. An answer that breaks a rule of the contract is an error.
func (n *Notifier) Notify(ctx context.Context, e swarm.Event) (swarm.NotifyAnswer, error) {
	if e.ID == "" {
		return swarm.NotifyAnswer{}, fmt.Errorf("%w: the event has no id", swarm.ErrInvalidSpec)
	}
	resp, err := n.rpc.Notify(ctx, wire.Event(e), smallAnswer)
	if err != nil {
		return swarm.NotifyAnswer{}, wire.FromStatus(ctx, err)
	}
	a := wire.FromNotifyAnswer(resp)
	if a.Outcome == swarm.NotifyLater && a.Reason == "" {
		a.Reason = noReason
	}
	if err := swarm.CheckNotifyAnswer(a); err != nil {
		return swarm.NotifyAnswer{}, fmt.Errorf("plugin '%s' answered an event with what breaks the contract: %w", n.client.info.Name, err)
	}
	return a, nil
}
