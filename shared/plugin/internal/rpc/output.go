package rpc

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// outputLimit is how many bytes of output may wait to be sent before the backend has to
// wait.
const outputLimit = 256 << 10

const pieceCost = 64

func (b backendServer) Output(req *pb.OutputRequest, stream grpc.ServerStreamingServer[pb.OutputResponse]) error {
	return run(stream.Context(), b.s, "Output", func(ctx context.Context, o swarm.Outputter) error {
		h, opts := wire.FromOutputRequest(req)
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		q := newQueue()
		var sender sync.WaitGroup
		sender.Go(func() {
			for pieces := q.take(); pieces != nil; pieces = q.take() {
				if err := stream.Send(&pb.OutputResponse{Pieces: pieces}); err != nil {
					cancel(err)
					q.close()
					return
				}
			}
		})
		stop := context.AfterFunc(ctx, q.close)
		defer stop()
		// The queue must be closed after a panic too, or the sender would not end.
		err := b.s.guard("Output", func() error {
			return o.Output(ctx, h, opts, func(piece swarm.Output) error {
				if !q.put(wire.Output(piece)) {
					return context.Cause(ctx)
				}
				return nil
			})
		})
		q.close()
		sender.Wait()
		if err == nil && ctx.Err() != nil {
			err = wire.FromStatus(ctx, context.Cause(ctx))
		}
		return err
	})
}

// queue holds output between a backend and the connection: while one message is sent, the
// pieces of the next one are collected. A burst is sent in large messages, a single line
// at once.
type queue struct {
	mu     sync.Mutex
	change *sync.Cond // something below changed
	pieces []*pb.OutputPiece
	size   int
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.change = sync.NewCond(&q.mu)
	return q
}

// put adds a piece once the queue has space. It reports whether the queue is open.
func (q *queue) put(p *pb.OutputPiece) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.size >= outputLimit && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return false
	}
	q.pieces = append(q.pieces, p)
	q.size += len(p.GetData()) + pieceCost
	q.change.Broadcast()
	return true
}

// take waits for pieces and returns all of them, or nil when the queue is closed and empty.
func (q *queue) take() []*pb.OutputPiece {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pieces) == 0 && !q.closed {
		q.change.Wait()
	}
	pieces := q.pieces
	q.pieces, q.size = nil, 0
	q.change.Broadcast()
	return pieces
}

// close refuses further pieces.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}
