package plugin

import (
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/swarmhost/swarm/shared/plugin/internal/handshake"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
)

// settleLimit is how long calls may take to return after the end of their connection,
// including a Spawn that is carried out.
const settleLimit = 30 * time.Second

// ServeConn serves the plugin to one host over a connection, for example to another machine,
// until the connection breaks or is closed. There is no handshake: both sides know each
// other. It logs to log, which must not be nil. The contexts of the calls in progress end
// with the connection, except that of a Spawn, which is completed: the host asks for the
// worker over a new connection. ServeConn returns when all calls have returned, or after 30
// seconds.
func ServeConn(o Options, conn net.Conn, log *slog.Logger) error {
	p, err := o.plugin(log)
	if err != nil {
		return err
	}
	p.Carries = true
	server := rpc.New(p)
	g := grpc.NewServer(grpc.MaxRecvMsgSize(handshake.MaxRequest),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: handshake.PingEvery / 2, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: handshake.PingEvery, Timeout: handshake.PingLimit}))
	server.Register(g)
	_ = g.Serve(&onlyConn{Conn: conn, closed: make(chan struct{})}) // it ends with the connection
	server.Shutdown(settleLimit)
	g.Stop()
	return nil
}

// onlyConn is a connection, and the listener that accepts no other one.
type onlyConn struct {
	net.Conn
	accepted bool
	once     sync.Once
	closed   chan struct{}
}

// Accept returns the connection at the first call, and waits for its end at the second.
func (c *onlyConn) Accept() (net.Conn, error) {
	if !c.accepted {
		c.accepted = true
		return c, nil
	}
	<-c.closed
	return nil, io.EOF
}

// Close is called by the server at the end of the connection, and at its own.
func (c *onlyConn) Close() error {
	defer c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// Addr is for logs only.
func (*onlyConn) Addr() net.Addr { return &net.UnixAddr{Name: "stream", Net: "unix"} }
