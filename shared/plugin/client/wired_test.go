package client

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/swarmhost/swarm/shared/plugin/internal/handshake"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// serveInside serves a plugin in this process and returns the connection to it.
func serveInside(t *testing.T, register func(g *grpc.Server)) *grpc.ClientConn {
	t.Helper()
	g := grpc.NewServer(grpc.MaxRecvMsgSize(handshake.MaxRequest))
	register(g)
	listener := bufconn.Listen(1 << 20)
	served := make(chan struct{})
	go func() { defer close(served); _ = g.Serve(listener) }()
	t.Cleanup(func() { g.Stop(); <-served })
	conn, err := grpc.NewClient("passthrough:///plugin",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(handshake.MaxRequest), grpc.MaxCallSendMsgSize(handshake.MaxRequest)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// backendOf connects to a backend value.
func backendOf(t *testing.T, b swarm.Backend, opts ...ConnectOption) *Backend {
	t.Helper()
	return connectInside(t, pluginOf(b), opts...).Backend()
}

// connectInside serves a plugin in this process and connects to it.
func connectInside(t *testing.T, p rpc.Plugin, opts ...ConnectOption) *Client {
	t.Helper()
	c, err := Connect(t.Context(), serveInside(t, func(g *grpc.Server) { rpc.New(p).Register(g) }), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pluginOf(b swarm.Backend) rpc.Plugin {
	return rpc.Plugin{
		Name: "test", Kind: pb.Kind_KIND_BACKEND, Local: true, Logger: slog.New(slog.DiscardHandler),
		New: func(context.Context, []byte) (any, error) { return b, nil },
	}
}

// stub is a backend made of functions; one that is not set is not called.
type stub struct {
	spawn  func(context.Context, swarm.Spec) (swarm.Handle, error)
	status func(context.Context, swarm.Handle) (swarm.Status, error)
	kill   func(context.Context, swarm.Handle, swarm.KillOptions) (swarm.KillResult, error)
}

func (s stub) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	return s.spawn(ctx, spec)
}

func (s stub) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	return s.status(ctx, h)
}

func (s stub) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	return s.kill(ctx, h, o)
}
