package input

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/relay"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// PortPair is a port of a worker, and the port of this machine that leads to it.
type PortPair struct {
	// Port is the worker's.
	Port int
	// Local is a port of this machine's loopback addresses; 0: a free one.
	Local int
}

// ForwardEvent is something that happened to a [PortPair].
type ForwardEvent struct {
	PortPair
	// Err says why a connection failed; nil: Local leads to Port from now on.
	Err error
}

const (
	// maxConnections is how many connections of one call exist at once. Each has a process.
	maxConnections = 128
	// listenTries is how many free ports are tried until one is free at all loopback addresses.
	listenTries = 20
	// acceptPause follows a connection that could not be accepted.
	acceptPause = time.Second
)

// Forward forwards connections from ports of this machine to ports in the network of a running worker, see
// [swarm.Forwarder], until ctx ends, and returns its error. each gets what happens, one event at a time. Only programs of
// this machine can connect, but those of all its users.
//
// A program that listens, such as a debugger, may do what its clients want, so the right to end the worker
// is needed.
func (s *Sender) Forward(ctx context.Context, name string, ports []PortPair, each func(ForwardEvent)) error {
	recs, _, err := s.Roster.Pick(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return err
	}
	if err := s.Roster.MayEnd(ctx, recs...); err != nil {
		return err
	}
	rec, err := s.live(ctx, recs[0])
	programs := make([]swarm.Program, len(ports))
	if err == nil {
		err = s.interact(ctx, rec, swarm.CapForward, func(ctx context.Context, p *backend.Peer) (err error) {
			for i := range ports {
				if programs[i], err = p.Backend.Forward(ctx, rec.Handle, swarm.ForwardOptions{Port: ports[i].Port}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if box := rec.Sandbox; errors.Is(err, swarm.ErrUnsupported) && box != nil && box.Network == swarm.NetworkNone {
		err = worker.Errorf(swarm.ErrUnsupported, "'%s' is in a sandbox without a network: its ports can't be reached", rec.Name)
	}
	if err == nil {
		err = s.forward(ctx, ports, programs, each)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return worker.WithName(err, "cannot forward ports of", rec.Name)
}

// forward listens at all ports, then serves them until ctx ends.
func (s *Sender) forward(ctx context.Context, ports []PortPair, programs []swarm.Program, each func(ForwardEvent)) error {
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	defer serving.Wait()
	defer cancel()
	listeners := make([][]*net.TCPListener, len(ports))
	defer func() {
		for _, l := range listeners {
			closeAll(l)
		}
	}()
	for i := range ports {
		var err error
		if listeners[i], err = listen(ctx, &ports[i]); err != nil {
			return err
		}
	}
	for _, f := range ports {
		each(ForwardEvent{PortPair: f})
	}
	var reporting sync.Mutex
	report := func(e ForwardEvent) {
		reporting.Lock()
		defer reporting.Unlock()
		each(e)
	}
	slots := make(chan struct{}, maxConnections)
	for i, f := range ports {
		for _, l := range listeners[i] {
			serving.Go(func() {
				for {
					conn, err := l.AcceptTCP()
					switch {
					case errors.Is(err, net.ErrClosed):
						return
					case err != nil: // such as too many open files: later connections are tried again
						report(ForwardEvent{f, err})
						if sleep.For(ctx, acceptPause) != nil {
							return
						}
						continue
					}
					slots <- struct{}{}
					serving.Go(func() {
						defer func() { <-slots }()
						if err := s.connect(ctx, programs[i], conn); err != nil && ctx.Err() == nil {
							report(ForwardEvent{f, err})
						}
					})
				}
			})
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// listen listens at a port of 127.0.0.1, and of ::1 if this machine has it, and notes the port down.
func listen(ctx context.Context, f *PortPair) (both []*net.TCPListener, err error) {
	for range listenTries {
		if both, err = listenAt(ctx, f.Local); err == nil || f.Local != 0 || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, worker.WithHint(
			fmt.Errorf("port %d of this machine is in use", f.Local), fmt.Sprintf("'%d:0' picks a free one", f.Port))
	case errors.Is(err, syscall.EACCES):
		return nil, worker.WithHint(
			fmt.Errorf("port %d of this machine needs more rights", f.Local), fmt.Sprintf("'%d:0' picks a free one", f.Port))
	case err != nil:
		return nil, err
	}
	if at, ok := both[0].Addr().(*net.TCPAddr); ok {
		f.Local = at.Port
	}
	return both, nil
}

func listenAt(ctx context.Context, port int) (both []*net.TCPListener, err error) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		var l net.Listener
		l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(port)))
		switch tcp, ok := l.(*net.TCPListener); {
		case err == nil && ok:
			both = append(both, tcp)
			if at, ok := tcp.Addr().(*net.TCPAddr); ok {
				port = at.Port
			}
		case len(both) == 0 || errors.Is(err, syscall.EADDRINUSE):
			// A browser tries either address: it would find another program at ::1.
			closeAll(both)
			return nil, err
		}
	}
	return both, nil
}

func closeAll(listeners []*net.TCPListener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}

// connect runs the program of a backend for a connection, and returns why it failed. It returns nil for a connection
// that this side has broken off.
func (s *Sender) connect(ctx context.Context, p swarm.Program, conn *net.TCPConn) error {
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...)
	cmd.Env = environ.Set(environ.Unset(s.Env, p.Unset...), p.Env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = copyEndLimit
	var errs limited
	cmd.Stderr = &errs
	// Unlike the pipes of package exec these are still open when the program has ended.
	in, toProgram, err := os.Pipe()
	if err != nil {
		return err
	}
	defer toProgram.Close()
	fromProgram, out, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		return err
	}
	defer fromProgram.Close()
	cmd.Stdin, cmd.Stdout = in, out
	err = cmd.Start()
	_, _ = in.Close(), out.Close()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		_ = conn.CloseRead() // what this side sends has no reader any more
		ended <- err
	}()
	broken := relay.Copy(conn, fromProgram, untilClosed{toProgram})
	if broken != nil {
		cancel()
	}
	theirs := <-ended
	lines := errs.lines()
	switch {
	case theirs == nil || broken != nil:
		return nil
	case len(lines) > 0:
		return errors.New(strings.Join(lines[max(0, len(lines)-maxReasons):], "; "))
	}
	return fmt.Errorf("the program that connects failed: %w", theirs)
}

// untilClosed is a pipe that drops what is written to it after its reader has ended.
type untilClosed struct{ *os.File }

func (u untilClosed) Write(p []byte) (int, error) {
	n, err := u.File.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		return len(p), nil
	}
	return n, err
}
