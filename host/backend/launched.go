package backend

import (
	"context"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/launch"
	"github.com/swarmhost/swarm/shared/plugin"
)

// Launcher returns a starter that starts plugins as processes.
func Launcher(set *launch.Set) Starter { return launched{set} }

// launched starts plugins as processes.
type launched struct{ set *launch.Set }

func (l launched) Start(entries ...catalog.Entry) { l.set.Start(entries...) }

func (l launched) Get(ctx context.Context, e catalog.Entry) (*Peer, error) {
	c, err := l.set.Get(ctx, e)
	if err != nil {
		return nil, err
	}
	return newPeer(c), nil
}

func (l launched) Restart(ctx context.Context, e catalog.Entry, gone *Peer) (*Peer, error) {
	c, err := l.set.Restart(ctx, e, gone.client)
	if err != nil {
		return nil, err
	}
	return newPeer(c), nil
}

func (l launched) Died(ctx context.Context, p *Peer) error { return l.set.Died(ctx, p.client) }

func (l launched) Close() { l.set.Close() }

func newPeer(c *plugin.Client) *Peer {
	p := &Peer{Info: c.Info(), Report: c.Report, client: c}
	// A nil pointer in an interface is not a nil interface.
	if b := c.Backend(); b != nil {
		p.Backend = b
	}
	if w := c.Workspace(); w != nil {
		p.Workspace = w
	}
	return p
}
