package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// errNoAnswer means that no shim listens, or that it left before it answered.
var errNoAnswer = errors.New("the worker's shim does not answer")

// conn is a connection to a control socket.
type conn interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
}

type call struct {
	conn  conn
	lines *bufio.Scanner
	stop  func() bool
}

// openCall connects to the shim of a run directory and sends it a request. The error is
// errNoAnswer if no shim answers.
func openCall(ctx context.Context, dir string, r rundir.Request) (*call, error) {
	conn, err := connect(ctx, dir)
	if err != nil {
		return nil, noAnswer(ctx, err)
	}
	c := &call{conn: conn, lines: bufio.NewScanner(conn)}
	c.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(0, 1)) })
	if _, err := conn.Write([]byte(r.String() + "\n")); err != nil {
		c.close()
		return nil, noAnswer(ctx, err)
	}
	return c, nil
}

// answer returns the next line of the answer, for the context that openCall was given.
// A refusal by the shim is returned as an error.
func (c *call) answer(ctx context.Context) (rundir.Answer, error) {
	if !c.lines.Scan() {
		return rundir.Answer{}, noAnswer(ctx, c.lines.Err())
	}
	a, err := rundir.ParseAnswer(c.lines.Text())
	protocol, misunderstood := rundir.Misunderstood(a.Text)
	switch {
	case err != nil:
		return a, fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	case a.Kind == rundir.AnswerStale:
		return a, fmt.Errorf("%w: the run directory is another worker's", swarm.ErrStaleHandle)
	case a.Kind == rundir.AnswerBusy:
		return a, fmt.Errorf("%w: %s", swarm.ErrUnavailable, a.Text)
	case a.Kind != rundir.AnswerError:
		return a, nil
	case misunderstood && protocol < rundir.Protocol:
		return a, fmt.Errorf("%w: the worker was started by an older swarm, whose shim can't do that; respawn it", swarm.ErrInvalidSpec)
	case misunderstood && protocol > rundir.Protocol:
		return a, fmt.Errorf("%w: the worker was started by a newer swarm, whose shim does not take that from this one; use the newer swarm, or respawn the worker", swarm.ErrInvalidSpec)
	default:
		return a, fmt.Errorf("%w: %s", swarm.ErrInvalidSpec, a.Text)
	}
}

// pause is the time between two checks of a condition without an event.
const pause = 50 * time.Millisecond

// connect connects to the socket of a run directory. A full queue of clients does not mean
// that the shim has ended: connect tries again until the context ends. The kernel does not
// report free space in the queue.
func connect(ctx context.Context, dir string) (conn, error) {
	for {
		conn, err := dial(ctx, dir)
		if !errors.Is(err, syscall.EAGAIN) {
			return conn, err
		}
		if err := sleep.For(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// keeps reports whether the process that a status names as the shim is alive and carries
// the mark of the worker's shim. The status alone is not enough: the worker could have
// written it and named any process. An environment that can't be read, such as that of
// another user's process, does not disprove a shim: the process then only has to belong to
// the user who owns the run directory.
func keeps(dir string, st rundir.Status) bool {
	if !st.Shim.Alive() {
		return false
	}
	mark, marked, err := proc.LookupEnv(st.Shim.PID, swarm.EnvShim)
	if marked || err != nil {
		return mark == st.ID || err != nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) != os.Geteuid() && proc.RunsAs(st.Shim.PID, int(owner.Uid))
}

// IsKept reports whether the shim that wrote a status into the run directory dir may still
// be alive: its process is alive, or it listens although its pid has no meaning in the
// caller's PID namespace, such as that of a sandbox. Any error but a missing shim counts as
// its presence.
func IsKept(dir string, st rundir.Status) bool { return keeps(dir, st) || listens(dir) }

// listens reports whether a shim listens on the socket of a run directory. Only a refused
// connection shows that there is none: a full queue, or too many open files, does not.
func listens(dir string) bool {
	conn, err := dial(context.Background(), dir)
	if err != nil {
		return !refused(err)
	}
	_ = conn.Close() // nothing was asked
	return true
}

// refused reports whether an error of dial shows that no shim listens.
func refused(err error) bool {
	proofs := []error{
		syscall.ENOENT, syscall.ENOTDIR, syscall.ECONNREFUSED, syscall.ENOTSOCK, syscall.EPROTOTYPE,
		// A shim's socket is the same user's, and no link.
		syscall.EACCES, syscall.EPERM, syscall.ELOOP, syscall.ENAMETOOLONG,
	}
	return slices.ContainsFunc(proofs, func(proof error) bool { return errors.Is(err, proof) })
}

// rebind ties the call to another context than the one of openCall.
func (c *call) rebind(ctx context.Context) {
	c.stop()
	_ = c.conn.SetDeadline(time.Time{})
	c.stop = context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(0, 1)) })
}

func (c *call) close() {
	c.stop()
	// Nothing was written that could still be lost.
	_ = c.conn.Close()
}

// peerPID returns the pid of the process that listens at the other end; 0 if that is not
// known here, as in another PID namespace.
func peerPID(c conn) (pid int) {
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { pid, _, _ = proc.Peer(int(fd)) })
		}
	}
	return pid
}

// noAnswer makes an error of a connection one of the contract. A nil error is an
// end of file.
func noAnswer(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return errNoAnswer
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", swarm.ErrPermission, err)
	default:
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
}

// awakeLimit is how long a running shim may take to answer before it counts as stopped.
const awakeLimit = 500 * time.Millisecond

// keepAwake continues a stopped shim, which would never answer, again and again until stop
// is called. Once is not enough: a shim may accept a request at the very moment at which it
// is stopped.
func keepAwake(dir, id string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var owned sync.WaitGroup
	owned.Go(func() {
		for sleep.For(ctx, awakeLimit) == nil {
			st, err := readFacts(dir, id)
			if err != nil {
				continue
			}
			if there, err := isShim(dir, st); there && err == nil {
				_ = st.Shim.Signal(syscall.SIGCONT)
			}
		}
	})
	return func() {
		cancel()
		owned.Wait()
	}
}
