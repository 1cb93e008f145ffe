package container

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/moby/moby/api/types/container"

	"github.com/swarmhost/swarm/plugins/container/network"
	"github.com/swarmhost/swarm/shared/relay"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ForwardVerb is the first argument of the program that [Backend.Forward] returns, the plugin's own, which then
// calls [ForwardMain].
const ForwardVerb = "forward-port"

// Forward returns the plugin itself, which connects with the port in the network of the container.
func (b *Backend) Forward(ctx context.Context, h swarm.Handle, o swarm.ForwardOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	r, e, err := b.open(ctx, h)
	if err != nil {
		return swarm.Program{}, err
	}
	s, err := e.inspect(ctx, r)
	switch {
	case err != nil:
		return swarm.Program{}, err
	case s.created:
		return swarm.Program{}, fmt.Errorf("%w: the worker has not started yet", swarm.ErrUnavailable)
	case !s.running:
		return swarm.Program{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	}
	own, err := os.Executable()
	return swarm.Program{Command: []string{own, ForwardVerb, r.Socket, r.Container, strconv.Itoa(o.Port)}}, err
}

// ForwardMain connects the standard streams with a port of a container, and returns the exit code. Its arguments are
// those of the program that [Backend.Forward] returns.
func ForwardMain(args []string) int {
	return relay.Main(func(ctx context.Context) (relay.Conn, error) {
		if len(args) != 3 {
			return nil, errors.New("expected a socket, a container and a port")
		}
		port, err := strconv.ParseUint(args[2], 10, 16)
		if err != nil {
			return nil, fmt.Errorf("expected a port: %w", err)
		}
		b := &Backend{engines: make(map[string]*engine), log: slog.New(slog.DiscardHandler)}
		e, err := b.at(args[0])
		if err != nil {
			return nil, err
		}
		c, err := e.look(ctx, args[1])
		switch {
		case err != nil:
			return nil, e.explain(ctx, "look at the worker", err)
		case c.State == nil || c.State.Pid <= 0:
			return nil, errors.New("the worker has ended")
		}
		return dial(ctx, c, int(port))
	})
}

// dial connects with a port of a container from inside its network, where a program may listen on a loopback
// address, or, without the right to enter the network, at the addresses of the container.
func dial(ctx context.Context, c container.InspectResponse, port int) (relay.Conn, error) {
	conn, inside := network.Dial(ctx, c.State.Pid, c.ID, port)
	if inside == nil || errors.Is(inside, syscall.ECONNREFUSED) {
		return conn, inside
	}
	var tried []string
	for _, address := range addresses(c) {
		conn, err := (&net.Dialer{Timeout: addressLimit}).DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(port)))
		if tcp, ok := conn.(*net.TCPConn); err == nil && ok {
			return tcp, nil
		}
		tried = append(tried, address)
	}
	if tried == nil {
		return nil, fmt.Errorf("the container has no address that can be reached from here, and its network can't be entered: %w", inside)
	}
	return nil, fmt.Errorf("no program listens on port %d of %s; one that listens on 127.0.0.1 alone is out of reach, since the network of the container can't be entered: %w",
		port, strings.Join(tried, " or "), inside)
}

// addressLimit is how long a container may take to answer at one of its addresses.
const addressLimit = 5 * time.Second

func addresses(c container.InspectResponse) []string {
	var all []string
	if c.NetworkSettings == nil {
		return nil
	}
	for _, n := range c.NetworkSettings.Networks {
		if n == nil {
			continue
		}
		if n.IPAddress.IsValid() {
			all = append(all, n.IPAddress.String())
		}
		if n.GlobalIPv6Address.IsValid() {
			all = append(all, n.GlobalIPv6Address.String())
		}
	}
	return all
}
