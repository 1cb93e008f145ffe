package client

import (
	"context"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Watch implements [swarm.Watcher].
func (b *Backend) Watch(ctx context.Context, h swarm.Handle, each func(swarm.Status) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var ended error // of each or of the watch
	gone := b.WatchBatch(ctx, []swarm.Handle{h}, func(_ int, s swarm.Status, err error) {
		switch {
		case ended != nil:
		case err != nil:
			ended = err
		default:
			ended = each(s)
		}
		if ended != nil {
			cancel()
		}
	})
	if ended != nil {
		return ended
	}
	return gone
}

// WatchBatch watches any number of workers at the same time. It calls each with the index
// in hs and the status of each worker, at once and again at every change, never
// concurrently. The watch of a worker ends with a status that is exited or lost, or with an
// error; WatchBatch returns when all watches have ended. An error of WatchBatch is about the
// workers whose watch has not ended. To stop earlier, end ctx.
func (b *Backend) WatchBatch(ctx context.Context, hs []swarm.Handle, each func(i int, s swarm.Status, err error)) error {
	return b.watch(ctx, hs, func(i int, r *pb.WatchResponse) {
		switch {
		case r.GetError() != nil:
			each(i, swarm.Status{}, wire.FromError(r.GetError()))
		case !r.GetLast():
			each(i, wire.FromWorkerStatus(r.GetStatus()), nil)
		}
	})
}

// WaitBatch watches any number of workers to their end. It calls each once for every worker
// when its watch ends, in any order, never concurrently, with its index in hs and its last
// status, or the error of the watch. An error of WaitBatch is about the workers for which
// each was not called; without an error it was called for all.
func (b *Backend) WaitBatch(ctx context.Context, hs []swarm.Handle, each func(i int, s swarm.Status, err error)) error {
	newest := make([]swarm.Status, len(hs))
	return b.watch(ctx, hs, func(i int, r *pb.WatchResponse) {
		if r.GetLast() {
			each(i, newest[i], wire.FromError(r.GetError()))
		} else {
			newest[i] = wire.FromWorkerStatus(r.GetStatus())
		}
	})
}

// watch calls each for every message about each worker.
func (b *Backend) watch(ctx context.Context, hs []swarm.Handle, each func(int, *pb.WatchResponse)) error {
	return inBatches(ctx, b, hs,
		func(ctx context.Context, part []swarm.Handle) (grpc.ServerStreamingClient[pb.WatchResponse], error) {
			return b.rpc.Watch(ctx, &pb.WatchRequest{Handles: wire.Handles(part)})
		}, each)
}
