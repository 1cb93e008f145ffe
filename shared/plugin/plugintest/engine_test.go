package plugintest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// engineVar makes the test binary a plugin of the engine at the socket that it
// names. So a plugin is a process that can be killed, and its workers stay in the
// test.
const engineVar = "PLUGINTEST_ENGINE"

func TestMain(m *testing.M) {
	socket := os.Getenv(engineVar)
	if socket == "" {
		os.Exit(m.Run())
	}
	plugin.Serve(plugin.Options{
		Name: "proxy", Version: "1.0.0",
		Backend: func(ctx context.Context, _ plugin.Env) (swarm.Backend, error) { return dialEngine(ctx, socket) },
	})
}

// proxied is a backend at an engine.
type proxied struct{ *plugin.Backend }

func (proxied) Announce() []swarm.Capability {
	return []swarm.Capability{swarm.CapStdin, swarm.CapRestart}
}

func dialEngine(ctx context.Context, socket string) (swarm.Backend, error) {
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	c, err := plugin.Connect(ctx, conn)
	if err != nil {
		return nil, err
	}
	return proxied{c.Backend()}, nil
}

// engine serves a backend to plugins.
type engine struct {
	t *testing.T
	// backend is called for every plugin that connects.
	backend func() swarm.Backend
	// left is called when one is gone; nil: nothing is done.
	left func(swarm.Backend)
}

// binary returns a plugin of the engine.
func (e engine) binary() Binary {
	e.t.Helper()
	// Not t.TempDir: the path of a socket has to be short.
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		e.t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { e.serve(conn) })
		}
	})
	e.t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait() // the plugins are gone
	})
	self, err := os.Executable()
	if err != nil {
		e.t.Fatal(err)
	}
	return Binary{
		Path: self, Env: append(os.Environ(), engineVar+"="+socket),
		Command: func(s Script) []string { return []string{string(s)} },
		Handles: []swarm.Handle{oldHandle},
	}
}

// serve serves one plugin until it is gone.
func (e engine) serve(conn net.Conn) {
	backend := e.backend()
	server := rpc.New(rpc.Plugin{
		Name: "engine", Kind: pb.Kind_KIND_BACKEND, Logger: hclog.NewNullLogger(),
		New: func(context.Context, []byte) (any, error) { return backend, nil },
	})
	g := grpc.NewServer()
	server.Register(g)
	one := &oneConn{Conn: conn, gone: make(chan struct{})}
	_ = g.Serve(one)
	server.Shutdown(patience)
	g.Stop()
	if e.left != nil {
		e.left(backend)
	}
}

// oneConn is a connection, and a listener that accepts it and no other.
type oneConn struct {
	net.Conn
	accepted, closed sync.Once
	gone             chan struct{} // closed with the connection
}

var errGone = errors.New("the plugin is gone")

func (c *oneConn) Accept() (conn net.Conn, err error) {
	c.accepted.Do(func() { conn = c })
	if conn != nil {
		return conn, nil
	}
	<-c.gone
	return nil, errGone
}

func (c *oneConn) Close() error {
	c.closed.Do(func() { close(c.gone) })
	return c.Conn.Close()
}

func (c *oneConn) Addr() net.Addr { return c.LocalAddr() }

// checked returns the names of the cases that a plugin of the engine fails.
func checked(t *testing.T, b Binary, only func(name string) bool) []string {
	t.Helper()
	var failed []string
	for _, r := range Check(t.Context(), b, CheckOptions{Only: only, Parallel: 16}).Results {
		if r.Outcome == Failed {
			failed = append(failed, r.Name)
			t.Logf("%s: %s", r.Name, fmt.Sprint(r.Problems))
		}
	}
	return failed
}
