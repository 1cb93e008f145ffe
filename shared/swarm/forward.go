package swarm

import (
	"context"
	"strconv"
)

// Forwarder connects the host with programs that listen in the network of a running worker.
type Forwarder interface {
	// Forward returns the program that connects its standard streams with a TCP port in the
	// network of the worker, in the place of the host's process. It changes nothing: each run of
	// the program is one connection, and several may run at once. Forward accepts a port on
	// which no program listens yet.
	//
	// A program that listens on a loopback address of that network alone can be reached, unless
	// this machine lacks the right to enter the network. 127.0.0.1 is tried first, then ::1.
	//
	// The program's standard input goes to the port, and its standard output comes from there,
	// each byte as it is and as soon as it arrives. The end of its standard input ends that
	// direction of the connection and leaves the other one open. The end of what the port sends
	// closes its standard output and leaves its standard input open. It exits with 0 after both
	// directions have ended.
	//
	// If it can't connect, or the connection breaks, it writes the reason in one line to its
	// standard error and exits with another code. The connection ends when the program is ended,
	// in any way, and when no process reads its standard output any more.
	//
	// A worker that has ended is [ErrNotFound]. One that can't be reached at the moment, such as
	// one between two starts, is [ErrUnavailable], as far as Forward can see it already; otherwise
	// the program fails.
	Forward(ctx context.Context, h Handle, o ForwardOptions) (Program, error)
}

// MaxPort is the largest number of a port.
const MaxPort = 65535

// ForwardOptions say what to connect with.
type ForwardOptions struct {
	// Port is a TCP port, from 1 to [MaxPort]. It is a number in the worker's network, whatever the
	// port is called outside of that.
	Port int
}

// Check returns an [ErrInvalidSpec] if Port is not the number of a port.
func (o ForwardOptions) Check() error {
	if o.Port < 1 || o.Port > MaxPort {
		return &specError{strconv.Itoa(o.Port) + " is not a port: expected a number from 1 to " + strconv.Itoa(MaxPort)}
	}
	return nil
}
