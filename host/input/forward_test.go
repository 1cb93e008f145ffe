package input_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/relay"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestMain is also the program that connects with a port of a worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == relay.Verb {
		os.Exit(relay.PortMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// echo is a server that sends back what it gets, and "end" after the end of that.
func echo(t *testing.T) (port int, leave func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
				_, _ = io.WriteString(conn, "end")
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, func() { _ = l.Close() } //nolint:forcetypeassert // of TCP
}

// forwarder returns a sender with a worker "w".
func forwarder(t *testing.T) *input.Sender {
	t.Helper()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapForward)
	r.MustSpawn(t, "w", "one")
	s := r.Input()
	s.Env = os.Environ()
	return s
}

// forward starts a forwarding of the worker "w", and returns what happens there, and its end.
func forward(t *testing.T, ports ...input.PortPair) (events <-chan input.ForwardEvent, end func() error) {
	t.Helper()
	s := forwarder(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	happened, ended := make(chan input.ForwardEvent, 10), make(chan error, 1)
	go func() {
		ended <- s.Forward(ctx, "w", ports, func(e input.ForwardEvent) { happened <- e })
	}()
	t.Cleanup(func() { cancel(nil) })
	return happened, func() error {
		cancel(errors.New("enough"))
		return <-ended
	}
}

func dial(t *testing.T, address string, port int) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn) //nolint:forcetypeassert // of TCP
}

// TestForward has two ports: both are passed on both ways, at both addresses, until the caller has enough.
func TestForward(t *testing.T) {
	t.Parallel()
	one, _ := echo(t)
	two, _ := echo(t)
	events, end := forward(t, input.PortPair{Port: one}, input.PortPair{Port: two})
	first, second := <-events, <-events
	if first.Port != one || second.Port != two || first.Local == 0 || first.Local == second.Local || first.Err != nil {
		t.Fatalf("%+v, %+v", first, second)
	}
	addresses := []string{"127.0.0.1"}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		_ = l.Close()
		addresses = append(addresses, "::1")
	}
	for _, address := range addresses {
		for _, local := range []int{first.Local, second.Local} {
			conn := dial(t, address, local)
			got := make([]byte, 4)
			if _, err := io.WriteString(conn, "ping"); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != "ping" {
				t.Errorf("%q, %v", got, err)
			}
			if err := conn.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(conn); err != nil || string(got) != "end" {
				t.Errorf("after the end: %q, %v", got, err)
			}
		}
	}
	open := dial(t, "127.0.0.1", first.Local)
	if err := end(); err == nil || err.Error() != "enough" {
		t.Errorf("%v", err)
	}
	if _, err := io.ReadAll(open); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("an open connection: %v", err)
	}
	if conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(first.Local)); err == nil {
		_ = conn.Close()
		t.Error("the port is open after the end")
	}
	select {
	case e := <-events:
		t.Errorf("%+v", e)
	default:
	}
}

// TestForwardRefused: a connection to a port on which no program listens fails, and the next one is tried.
func TestForwardRefused(t *testing.T) {
	t.Parallel()
	port, leave := echo(t)
	leave()
	events, end := forward(t, input.PortPair{Port: port})
	local := (<-events).Local
	for range 2 {
		conn := dial(t, "127.0.0.1", local)
		if e := <-events; e.Err == nil || !strings.HasPrefix(e.Err.Error(), "no program listens on port ") || e.Port != port || e.Local != local {
			t.Errorf("%+v", e)
		}
		if got, _ := io.ReadAll(conn); len(got) > 0 {
			t.Errorf("the client got %q", got)
		}
	}
	if err := end(); err == nil || err.Error() != "enough" {
		t.Error(err)
	}
}

// TestForwardMany has more listeners than connections may exist: each of them accepts.
func TestForwardMany(t *testing.T) {
	t.Parallel()
	port, _ := echo(t)
	const ports = 140
	events, end := forward(t, slices.Repeat([]input.PortPair{{Port: port}}, ports)...)
	var last int
	for range ports {
		last = (<-events).Local
	}
	conn := dial(t, "127.0.0.1", last)
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || string(got) != "end" {
		t.Errorf("%q, %v", got, err)
	}
	_ = end()
}

func TestForwardTaken(t *testing.T) {
	t.Parallel()
	port, _ := echo(t)
	err := forwarder(t).Forward(t.Context(), "w", []input.PortPair{{Port: 80}, {Port: 80, Local: port}}, func(e input.ForwardEvent) { t.Errorf("%+v", e) })
	want := "cannot forward ports of 'w': port " + strconv.Itoa(port) + " of this machine is in use"
	hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err)
	if err == nil || err.Error() != want || !ok || hinted.Hint() != "'80:0' picks a free one" {
		t.Errorf("%v", err)
	}
}

func TestForwardNotPossible(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapForward)
	r.Announce("two", swarm.CapSandbox)
	r.MustSpawn(t, "far", "two")
	r.MustSpawn(t, "alone", "two", func(req *spawn.Request) { req.Sandbox = &swarm.Sandbox{Network: swarm.NetworkNone} })
	r.MustSpawn(t, "ended", "one")
	r.One.End(t, "ended", swarm.Exit{})
	s := r.Input()
	for name, want := range map[string]struct {
		is   error
		text string
	}{
		"far":   {swarm.ErrUnsupported, "backend 'two' does not support forward"},
		"alone": {swarm.ErrUnsupported, "'alone' is in a sandbox without a network: its ports can't be reached"},
		"ended": {worker.ErrEnded, "worker 'ended' is not running"},
		"ghost": {store.ErrNotFound, "ghost"},
	} {
		err := s.Forward(t.Context(), name, []input.PortPair{{Port: 80}}, func(e input.ForwardEvent) { t.Errorf("%+v", e) })
		if !errors.Is(err, want.is) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
