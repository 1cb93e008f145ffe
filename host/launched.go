package host

import (
	"context"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/launch"
	"github.com/swarmhost/swarm/shared/plugin"
)

// launched starts plugins as processes.
type launched struct{ set *launch.Set }

func (l launched) Start(entries ...catalog.Entry) { l.set.Start(entries...) }

func (l launched) Get(ctx context.Context, e catalog.Entry) (*peer, error) {
	c, err := l.set.Get(ctx, e)
	if err != nil {
		return nil, err
	}
	return newPeer(c), nil
}

func (l launched) Restart(ctx context.Context, e catalog.Entry, gone *peer) (*peer, error) {
	c, err := l.set.Restart(ctx, e, gone.client)
	if err != nil {
		return nil, err
	}
	return newPeer(c), nil
}

func (l launched) Died(ctx context.Context, p *peer) error { return l.set.Died(ctx, p.client) }

func (l launched) Close() { l.set.Close() }

func (l launched) Leave() { l.set.Leave() }

func (l launched) Reap() { l.set.Reap() }

func newPeer(c *plugin.Client) *peer {
	p := &peer{Info: c.Info(), report: c.Report, client: c}
	// A nil pointer in an interface is not a nil interface.
	if b := c.Backend(); b != nil {
		p.backend = b
	}
	if w := c.Workspace(); w != nil {
		p.workspace = w
	}
	return p
}
