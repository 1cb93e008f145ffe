package rpc

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (b backendServer) Watch(req *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	hs := req.GetHandles()
	w := watch{stream: stream}
	// The last message about a worker is the result of its call.
	return each(b.s, "Watch", len(hs), &w, func(ctx context.Context, watcher swarm.Watcher, i int) *pb.WatchResponse {
		_, err := guard(b.s, "Watch", func() (none struct{}, err error) {
			return none, watcher.Watch(ctx, wire.FromHandle(hs[i]), func(st swarm.Status) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return w.Send(&pb.WatchResponse{Index: uint32(i), Status: wire.WorkerStatus(st)})
			})
		})
		return &pb.WatchResponse{Index: uint32(i), Last: true, Error: wire.Error(err)}
	})
}

// watch sends the messages of many watches: a gRPC stream takes one at a time.
type watch struct {
	stream grpc.ServerStreamingServer[pb.WatchResponse]
	mu     sync.Mutex // held while a message is sent
}

func (w *watch) Context() context.Context { return w.stream.Context() }

func (w *watch) Send(m *pb.WatchResponse) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stream.Send(m)
}
