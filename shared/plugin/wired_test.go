package plugin

import (
	"context"
	"net"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// serveInside serves a plugin in this process and returns the connection to it.
func serveInside(t *testing.T, register func(g *grpc.Server)) *grpc.ClientConn {
	t.Helper()
	g := grpc.NewServer(grpc.MaxRecvMsgSize(rpc.MaxMessage))
	register(g)
	listener := bufconn.Listen(1 << 20)
	served := make(chan struct{})
	go func() { defer close(served); _ = g.Serve(listener) }()
	t.Cleanup(func() { g.Stop(); <-served })
	conn, err := grpc.NewClient("passthrough:///plugin",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(rpc.MaxMessage), grpc.MaxCallSendMsgSize(rpc.MaxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// connectInside serves options in this process and connects to them.
func connectInside(t *testing.T, o Options, opts ...ConnectOption) *Client {
	t.Helper()
	p, err := o.plugin(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	c, err := Connect(t.Context(), serveInside(t, func(g *grpc.Server) { rpc.New(p).Register(g) }), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// backendOf connects to a backend value.
func backendOf(t *testing.T, b swarm.Backend) *Backend {
	t.Helper()
	return connectInside(t, optionsOf(b)).Backend()
}

func optionsOf(b swarm.Backend) Options {
	return Options{
		Name: "test", Local: true,
		Backend: func(context.Context, Env) (swarm.Backend, error) { return b, nil },
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
