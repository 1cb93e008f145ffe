package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/reattach"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/proc"
)

// patience is how long a plugin that is being debugged may take to greet a connection: it may be
// stopped, for as long as a person reads.
const patience = 365 * 24 * time.Hour

// attached is the connection to a plugin that "swarm plugin debug" has started.
type attached struct {
	session *reattach.Session
	conn    *grpc.ClientConn
	// socket is what conn speaks over, once it is needed.
	socket net.Conn
	// leave ends the wait for the end of the plugin.
	leave context.CancelFunc
}

// attach connects to a plugin that is being debugged. Its program is not the one of the catalog,
// so nothing about that one is checked.
func (s *Set) attach(e catalog.Entry, session *reattach.Session, begun func()) (*child, *client.Client, error) {
	socket, err := session.Dial(s.ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("plugin '%s' is being debugged by pid %d: %w", e.Name, session.Holder.PID, err)
	}
	given := make(chan net.Conn, 1)
	given <- socket
	conn, err := grpc.NewClient("passthrough:///"+session.Socket,
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			select {
			case c := <-given:
				return c, nil
			default:
				return nil, client.ErrPluginGone
			}
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: patience}),
		grpc.WithIdleTimeout(0))
	if err != nil {
		return nil, nil, errors.Join(err, socket.Close())
	}
	if s.opts.Notice != nil {
		s.opts.Notice(fmt.Sprintf("plugin '%s' is being debugged by pid %d", e.Name, session.Holder.PID))
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &child{
		name: e.Name, proc: &process{exited: make(chan struct{})},
		attached: &attached{session: session, conn: conn, socket: socket, leave: cancel},
	}
	begun()
	go func() {
		// An error means that this host has left, or can't know.
		_ = proc.AwaitEnd(ctx, session.Server)
		p.proc.ended = s.now()
		close(p.proc.exited)
	}()
	c := client.Reattach(conn, session.Plugin)
	c.Explain(p.explainGone)
	return p, c, nil
}

func (a *attached) connected() bool { return a.conn.GetState() == connectivity.Ready }

// close leaves the plugin to its debugger.
func (a *attached) close() {
	_ = a.conn.Close()
	_ = a.socket.Close()
	a.leave()
}

// DebuggedError means that a plugin ended in a call while it was being debugged. It is a
// [client.ErrPluginGone].
type DebuggedError struct {
	Name string
	// Holder is the pid of "swarm plugin debug".
	Holder int
}

func (e *DebuggedError) Error() string {
	return fmt.Sprintf("plugin '%s', which pid %d debugs, ended in a call; the terminal of 'swarm plugin debug' shows why", e.Name, e.Holder)
}

func (e *DebuggedError) Is(target error) bool { return target == client.ErrPluginGone }
