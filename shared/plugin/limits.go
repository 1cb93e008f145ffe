package plugin

import (
	"context"

	"google.golang.org/grpc"
)

// MaxAnswer is the largest message, in bytes, that a host takes from a plugin. A plugin is
// third-party code: its answers must not use up the memory of the host.
const MaxAnswer = 16 << 20

const (
	// maxDescription is the largest answer to Describe and Configure, and the largest
	// description of one worker in a list.
	maxDescription = 1 << 20
	// maxList is the size of a whole list, in bytes: that of about 100,000 workers.
	maxList = 64 << 20
	// minListed is the smallest size that counts for a worker of a list.
	minListed = 512
)

// smallAnswer is for calls whose answers are small.
var smallAnswer = grpc.MaxCallRecvMsgSize(maxDescription)

// bounded is a connection on which no message is larger than [MaxAnswer], whatever
// the connection itself takes.
type bounded struct{ conn grpc.ClientConnInterface }

func (b bounded) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return b.conn.Invoke(ctx, method, args, reply, b.options(opts)...)
}

func (b bounded) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return b.conn.NewStream(ctx, desc, method, b.options(opts)...)
}

// options puts the bound before the options of a call, of which the last counts.
func (b bounded) options(opts []grpc.CallOption) []grpc.CallOption {
	return append([]grpc.CallOption{grpc.MaxCallRecvMsgSize(MaxAnswer)}, opts...)
}
