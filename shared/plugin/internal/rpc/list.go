package rpc

import (
	"context"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (b backendServer) List(_ *pb.ListRequest, stream grpc.ServerStreamingServer[pb.ListResponse]) error {
	_, err := call(stream.Context(), b.s, "List", func(ctx context.Context, lister swarm.Lister) (none struct{}, err error) {
		return none, lister.List(ctx, func(l swarm.Listed) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := checkHandle(l.Handle); err != nil {
				return err
			}
			return stream.Send(wire.Listed(l))
		})
	})
	return err
}
