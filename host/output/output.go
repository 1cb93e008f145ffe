// Package output reads the output of workers as lines of plain text.
package output

import (
	"context"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Last returns at least the last n lines that a worker wrote, or all if there are fewer. With an
// error it returns those that it could read.
func Last(ctx context.Context, p *backend.Peer, handle swarm.Handle, n int) ([]string, error) {
	text := Reader{Last: n}
	err := p.Backend.Output(ctx, handle, swarm.OutputOptions{Tail: &n}, func(o swarm.Output) error {
		text.Add(o)
		return nil
	})
	return text.All(), err
}

// LastOf is [Last] of a record, within [backend.StatusLimit].
func LastOf(ctx context.Context, plugins *backend.Plugins, rec registry.Record, n int) (lines []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, backend.StatusLimit)
	defer cancel()
	e, err := plugins.Entry(rec.Backend, rec.Plugin)
	if err != nil {
		return nil, err
	}
	err = plugins.AskBackend(ctx, e, true, func(p *backend.Peer) (err error) {
		lines, err = Last(ctx, p, rec.Handle, n)
		return err
	})
	return lines, err
}
