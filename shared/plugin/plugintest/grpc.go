package plugintest

import (
	"context"
	"net"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// wired puts the backend behind the wire.
func (b Backend) wired(t T) subject {
	t.Helper()
	return remote(t, connect(t, rpc.Plugin{
		Name:  "under-test",
		Kind:  pb.Kind_KIND_BACKEND,
		Local: b.Local,
		New:   func(context.Context, []byte) (any, error) { return b.New(t), nil },
	}))
}

// remote returns the capabilities of a connected plugin. The SDK adds the batch methods if
// the plugin lacks them.
func remote(t T, c *plugin.Client) subject {
	t.Helper()
	if c.Backend() == nil {
		t.Fatalf("plugin '%s' is of the kind %q", c.Info().Name, c.Info().Kind)
	}
	return subject{
		Backend: c.Backend(),
		caps:    append(c.Info().Capabilities, swarm.CapBatchStatus),
		local:   c.Info().Local,
	}
}

// connect serves a plugin in this process, over a connection in memory, until
// the test ends.
func connect(t T, p rpc.Plugin) *plugin.Client {
	t.Helper()
	p.Logger = hclog.NewNullLogger()
	server := rpc.New(p)
	g := grpc.NewServer(grpc.MaxRecvMsgSize(rpc.MaxMessage))
	server.Register(g)
	listener := bufconn.Listen(1 << 20)
	go func() { _ = g.Serve(listener) }() // ends with Stop
	t.Cleanup(func() {
		server.Shutdown(patience)
		g.Stop()
	})
	conn, err := grpc.NewClient("passthrough:///plugin",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(rpc.MaxMessage), grpc.MaxCallSendMsgSize(rpc.MaxMessage)),
	)
	if err != nil {
		t.Fatalf("connect to the plugin: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c, err := plugin.Connect(t.Context(), conn)
	if err != nil {
		t.Fatalf("connect to the plugin: %v", err)
	}
	return c
}
