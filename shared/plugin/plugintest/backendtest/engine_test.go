package backendtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/fake"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// proxyPath is the plugin of testdata/proxy, built for these tests.
var proxyPath string

// engineVar names the socket of the engine to it.
const engineVar = "PLUGINTEST_ENGINE"

func TestMain(m *testing.M) {
	fake.ConnectIfAsked()
	code := 1
	defer func() { os.Exit(code) }()
	dir, err := os.MkdirTemp("", "swarm-backendtest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	proxyPath = filepath.Join(dir, "proxy")
	if err := buildtest.Program(proxyPath, "./testdata/proxy"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	code = m.Run()
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
	return Binary{
		Path: proxyPath, Env: append(os.Environ(), engineVar+"="+socket),
		Command: func(s script.Script) []string { return []string{string(s)} },
		Handles: []swarm.Handle{oldHandle},
	}
}

// serve serves one plugin until it is gone.
func (e engine) serve(conn net.Conn) {
	backend := e.backend()
	server := rpc.New(rpc.Plugin{
		Name: "engine", Kind: pb.Kind_KIND_BACKEND, Logger: slog.New(slog.DiscardHandler),
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

// results runs the cases of a plugin outside of a test, those that are wanted; nil: all.
func results(t *testing.T, b Binary, wanted func(name string) bool) []harness.Result {
	t.Helper()
	p := b.Program()
	items := slices.Concat(p.StartCases(), p.LifeCases(), b.Items(t, p.Start(t)))
	if wanted != nil {
		items = slices.DeleteFunc(items, func(i harness.Item) bool { return !wanted(i.Name) })
	}
	return harness.Run(t.Context(), items, 16, func(harness.Result) {})
}

// failed returns the names of the cases that a plugin of the engine fails.
func failed(t *testing.T, b Binary, wanted func(name string) bool) []string {
	t.Helper()
	var failed []string
	for _, r := range results(t, b, wanted) {
		if r.Outcome == harness.Failed {
			failed = append(failed, r.Name)
			t.Logf("%s: %s", r.Name, fmt.Sprint(r.Problems))
		}
	}
	return failed
}
