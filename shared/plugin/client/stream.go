package client

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/swarmhost/swarm/shared/plugin/internal/handshake"
)

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
