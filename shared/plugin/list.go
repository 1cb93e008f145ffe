package plugin

import (
	"context"
	"errors"
	"io"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// List implements [swarm.Lister].
func (b *Backend) List(ctx context.Context, each func(swarm.Listed) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream when each did not want more
	stream, err := b.rpc.List(ctx, &pb.ListRequest{})
	if err != nil {
		return wire.FromStatus(ctx, err)
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return wire.FromStatus(ctx, err)
		}
		if _, err := b.handle(resp.GetHandle()); err != nil {
			return err
		}
		if err := each(wire.FromListed(resp)); err != nil {
			return err
		}
	}
}
