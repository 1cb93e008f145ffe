package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// List implements [swarm.Lister]. A list without end is cut off with an error.
func (b *Backend) List(ctx context.Context, each func(swarm.Listed) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream when each did not want more
	stream, err := b.rpc.List(ctx, &pb.ListRequest{}, smallAnswer)
	if err != nil {
		return wire.FromStatus(ctx, err)
	}
	for size := 0; ; {
		// Messages that have arrived can be received after the end of the context.
		if err := ctx.Err(); err != nil {
			return err
		}
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return wire.FromStatus(ctx, err)
		}
		if size += max(proto.Size(resp), minListed); size > maxList {
			return fmt.Errorf("plugin '%s' lists more workers than swarm accepts (%d MiB)", b.client.info.Name, maxList>>20)
		}
		if _, err := b.handle(resp.GetHandle()); err != nil {
			return err
		}
		if err := each(wire.FromListed(resp)); err != nil {
			return err
		}
	}
}
