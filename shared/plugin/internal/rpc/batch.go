package rpc

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// statusLimit is how many calls of Status run at the same time, over all RPCs, if the
// backend has no StatusBatch. Kills and waits are limited only by the size of a batch: each
// may take as long as a grace.
const statusLimit = 32

func (b backendServer) Status(ctx context.Context, req *pb.StatusRequest) (*pb.StatusResponse, error) {
	return call(ctx, b.s, "Status", func(ctx context.Context, backend swarm.Backend) (*pb.StatusResponse, error) {
		hs := wire.FromHandles(req.GetHandles())
		if err := checkBatch(len(hs)); err != nil {
			return nil, err
		}
		results, err := b.statuses(ctx, backend, hs)
		return &pb.StatusResponse{Results: wire.Convert(results, wire.StatusResult)}, err
	})
}

// statuses makes one call if the backend has StatusBatch, otherwise one for each handle.
func (b backendServer) statuses(ctx context.Context, backend swarm.Backend, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	if batch, ok := backend.(swarm.BatchStatuser); ok && len(hs) > 1 {
		results, err := batch.StatusBatch(ctx, hs)
		if err = checkResults(b.s, hs, results, err); err == nil {
			err = ctx.Err()
		}
		return results, err
	}
	results := make([]swarm.StatusResult, len(hs))
	var calls sync.WaitGroup
	for i, h := range hs {
		calls.Go(func() {
			select {
			case b.s.asking <- struct{}{}:
			case <-ctx.Done():
				return
			}
			results[i].Err = b.s.guard("Status", func() (err error) {
				results[i].Status, err = backend.Status(ctx, h)
				return err
			})
			<-b.s.asking
		})
	}
	calls.Wait()
	return results, ctx.Err()
}

func (b backendServer) Kill(req *pb.KillRequest, stream grpc.ServerStreamingServer[pb.KillResponse]) error {
	items := req.GetItems()
	return each(b.s, "Kill", len(items), stream, func(ctx context.Context, backend swarm.Backend, i int) *pb.KillResponse {
		ctx, warned := collect(ctx)
		var r swarm.KillResult
		err := b.s.guard("Kill", func() (err error) {
			r, err = backend.Kill(ctx, wire.FromHandle(items[i].GetHandle()), wire.FromKillOptions(items[i].GetOptions()))
			return err
		})
		return &pb.KillResponse{Index: uint32(i), Result: wire.KillResult(r), Error: wire.Error(err), Warnings: wire.Texts(warned.take())}
	})
}

// results sends the results of many calls.
type results[M any] interface {
	Context() context.Context
	Send(*M) error
}

// each runs f for n workers at the same time and sends each result as it comes.
// It returns when all have returned: no call outlives its stream.
func each[T, M any](s *Server, name string, n int, stream results[M], f func(context.Context, T, int) *M) error {
	return run(stream.Context(), s, name, func(ctx context.Context, value T) error {
		err := checkBatch(n)
		if err != nil {
			return err
		}
		results := make(chan *M, n)
		for i := range n {
			go func() { results <- f(ctx, value, i) }()
		}
		for range n {
			r := <-results
			// A call that ends now was cut off; another process of the plugin will repeat it.
			if err == nil && s.ctx.Err() != nil {
				err = context.Canceled
			}
			if err == nil {
				err = stream.Send(r)
			}
		}
		return wire.FromStatus(ctx, err)
	})
}
