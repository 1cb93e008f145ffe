package plugin

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
)

const (
	// pingEvery is how long a connection may be silent before it is asked for a sign of
	// life, and pingLimit is how long that may take. A connection that breaks without a
	// word is noticed after the sum of both.
	pingEvery = 10 * time.Second
	pingLimit = 10 * time.Second
	// settleLimit is how long calls may take to obey the end of their connection, and a
	// spawn to come to its end.
	settleLimit = 30 * time.Second
)

// ServeConn serves the plugin to one host over a connection, such as one to another
// machine, until that breaks or is closed. There is no handshake: both sides know each
// other. It logs to log, which must not be nil. The contexts of the calls under way end with
// the connection, except that of a Spawn, which is carried through: the host asks for the
// worker over a new connection. ServeConn returns when all have ended, or after half a minute.
func ServeConn(o Options, conn net.Conn, log hclog.Logger) error {
	p, err := o.plugin(log)
	if err != nil {
		return err
	}
	p.Carries = true
	server := rpc.New(p)
	g := grpc.NewServer(grpc.MaxRecvMsgSize(rpc.MaxMessage),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingEvery / 2, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingEvery, Timeout: pingLimit}))
	server.Register(g)
	only := &onlyConn{closed: make(chan struct{})}
	only.conn = &tellingConn{Conn: conn, closed: func() { only.once.Do(func() { close(only.closed) }) }}
	_ = g.Serve(only) // it ends with the connection
	server.Shutdown(settleLimit)
	g.Stop()
	return nil
}

// onlyConn is a listener with one connection.
type onlyConn struct {
	conn   net.Conn
	once   sync.Once
	closed chan struct{}
}

// Accept returns the connection, and at its second call the end of it.
func (l *onlyConn) Accept() (net.Conn, error) {
	if conn := l.conn; conn != nil {
		l.conn = nil
		return conn, nil
	}
	<-l.closed
	return nil, io.EOF
}

// Close is called by the server at its end.
func (l *onlyConn) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is for logs only.
func (l *onlyConn) Addr() net.Addr { return &net.UnixAddr{Name: "stream", Net: "unix"} }

type tellingConn struct {
	net.Conn
	closed func()
}

func (c *tellingConn) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

// ConnectConn is [Connect] to a plugin that [ServeConn] serves at the other end of conn. The
// returned function closes the connection; calls that are under way then, and later ones,
// are [ErrPluginGone].
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
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingEvery, Timeout: pingLimit, PermitWithoutStream: true}),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(rpc.MaxMessage)))
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
