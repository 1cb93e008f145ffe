package client

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/swarmhost/swarm/shared/plugin/internal/handshake"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
)

// bounded is a connection that accepts no message larger than [MaxAnswer], and whose errors say
// how the plugin ended if it did, see [Client.Explain]. All calls go through it.
type bounded struct {
	conn grpc.ClientConnInterface
	why  *atomic.Pointer[func() error]
}

func (b bounded) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return b.explained(ctx, b.conn.Invoke(ctx, method, args, reply, b.options(opts)...))
}

func (b bounded) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := b.conn.NewStream(ctx, desc, method, b.options(opts)...)
	if err != nil {
		return nil, b.explained(ctx, err)
	}
	return explainedStream{ClientStream: s, of: b, ctx: ctx}, nil
}

// options puts the bound before the options of a call: the last one counts.
func (b bounded) options(opts []grpc.CallOption) []grpc.CallOption {
	return append([]grpc.CallOption{grpc.MaxCallRecvMsgSize(MaxAnswer)}, opts...)
}

// explained returns err, or why the plugin is gone if err says that it is.
func (b bounded) explained(ctx context.Context, err error) error {
	why := b.why.Load()
	if err == nil || why == nil || !errors.Is(wire.FromStatus(ctx, err), ErrPluginGone) {
		return err
	}
	return (*why)()
}

// explainedStream is a stream of a [bounded] connection. The error of a send only says that the
// call failed; the one of the next receive has the reason.
type explainedStream struct {
	grpc.ClientStream
	of  bounded
	ctx context.Context //nolint:containedctx // that of the call, as grpc's own streams have it
}

func (s explainedStream) RecvMsg(m any) error {
	return s.of.explained(s.ctx, s.ClientStream.RecvMsg(m))
}

// ConnectConn is [Connect] to a plugin that [ServeConn] serves at the other end of conn. The
// returned function closes the connection; calls in progress and later calls return
// [ErrPluginGone].
func ConnectConn(ctx context.Context, conn net.Conn, opts ...ConnectOption) (*Client, func(), error) {
	given := make(chan net.Conn, 1)
	given <- conn
	g, err := grpc.NewClient("passthrough:///stream",
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			select {
			case c := <-given:
				return c, nil
			default:
				return nil, errors.New("the connection has ended")
			}
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithIdleTimeout(0),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: handshake.PingEvery, Timeout: handshake.PingLimit, PermitWithoutStream: true}),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(handshake.MaxRequest)))
	if err != nil {
		return nil, nil, err
	}
	end := func() {
		_ = g.Close()
		_ = conn.Close()
	}
	c, err := Connect(ctx, g, opts...)
	if err != nil {
		end()
		return nil, nil, err
	}
	return c, end, nil
}
