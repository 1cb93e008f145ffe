package control

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// turnLimit is how long an input waits for the one before it.
const turnLimit = 5 * time.Second

var (
	errGone     = errors.New("the worker's process ended before it had read all of it")
	errWaits    = errors.New("the worker has not read an earlier input")
	errNoInput  = pty.Refused("the worker has no standard input")
	errClosed   = pty.Refused("the worker's standard input is closed")
	errNoKeys   = pty.Refused("the worker is on no terminal: no key can be pressed")
	errBadInput = errors.New("incomplete input")
)

// Intake takes input for one start of the worker. Goroutines of clients use it:
// a worker that does not read must not stop the shim.
type Intake struct {
	// At most one of Term and Pipe is set.
	Term *pty.Terminal
	Pipe *os.File
	// turn is held while an input is given: two inputs must not mix.
	turn chan struct{}
	// gone is closed when the main process has ended.
	gone chan struct{}
	once sync.Once
	// left is how much was not read; it is set before gone is closed.
	left int
}

// NewIntake returns an intake. turn holds a token while an input is given.
func NewIntake(turn chan struct{}) *Intake {
	return &Intake{turn: turn, gone: make(chan struct{})}
}

// Close ends the intake at the end of the main process.
func (in *Intake) Close() {
	in.once.Do(func() {
		in.left = in.unread()
		close(in.gone)
	})
	if in.Pipe != nil {
		in.Pipe.Close()
	}
}

func (c *Client) input(r rundir.Request, requests chan<- Request) {
	asked := make(chan *Intake, 1)
	requests <- Request{Request: r, From: c, Intake: asked}
	in := <-asked
	switch {
	case in == nil:
		return
	case r.Kind == rundir.InputInterrupt && in.Term != nil:
		// It is a key of its own, which does not wait for other input.
		c.finish(in.result(in.Term.Interrupt()))
		return
	case in.Term == nil && in.Pipe == nil:
		c.finish(in.result(errNoInput))
		return
	}
	if err := in.await(); err != nil {
		c.finish(in.result(err))
		return
	}
	defer func() { <-in.turn }()
	var once sync.Once
	err := in.take(c, r, func() {
		once.Do(func() { c.finish(rundir.Answer{Kind: rundir.AnswerPending}) })
	})
	once.Do(func() { c.finish(in.result(err)) })
}

// result returns the answer to an input from its error.
func (in *Intake) result(err error) rundir.Answer {
	select {
	case <-in.gone:
		switch {
		case errors.Is(err, pty.ErrUnread) && in.left == 0:
			// It has read it, and ended at once.
			err = nil
		case err != nil:
			// The main process has ended, whatever the error.
			err = errGone
		}
	default:
	}
	var refused pty.Refused
	switch {
	case err == nil:
		return rundir.Answer{Kind: rundir.AnswerOK}
	case errors.As(err, &refused), errors.Is(err, errBadInput):
		return rundir.Answer{Kind: rundir.AnswerError, Text: err.Error()}
	default:
		return rundir.Answer{Kind: rundir.AnswerBusy, Text: err.Error()}
	}
}

// take gives the worker an input. It reads the bytes of the client only now, so that the shim
// holds the bytes of one input at a time.
func (in *Intake) take(c *Client, r rundir.Request, late func()) error {
	if r.Kind == rundir.InputEOF {
		return in.eof()
	}
	data, free, err := buffer(r.Size)
	if err != nil {
		return err
	}
	defer free()
	_ = c.file.SetReadDeadline(time.Now().Add(patience))
	n := copy(data, c.ahead)
	c.ahead = nil
	if _, err := io.ReadFull(c.from, data[n:]); err != nil {
		return errBadInput
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case <-in.gone:
			cancel(errGone)
		case <-ctx.Done():
		}
	}()
	switch {
	case r.Kind == rundir.InputKeys && in.Term == nil:
		return errNoKeys
	case r.Kind == rundir.InputKeys:
		return in.Term.PressKeys(ctx, string(data), late)
	case in.Term != nil:
		return in.Term.Give(ctx, data, pty.GiveOptions{
			Enter: r.Enter, EnterAfter: time.Duration(r.AfterMS) * time.Millisecond, PasteOnly: r.PasteOnly, Late: late,
		})
	default:
		return in.write(ctx, data, r.Enter, late)
	}
}

func (in *Intake) await() error {
	timer := time.NewTimer(turnLimit)
	defer timer.Stop()
	select {
	case in.turn <- struct{}{}:
	case <-in.gone:
		return errGone
	case <-timer.C:
		return errWaits
	}
	select {
	case <-in.gone:
		<-in.turn
		return errGone
	default:
		return nil
	}
}

func (in *Intake) eof() error {
	if in.Term != nil {
		return in.Term.EOF()
	}
	if in.Pipe.Close() != nil {
		return errClosed
	}
	return nil
}

func (in *Intake) write(ctx context.Context, data []byte, enter bool, late func()) error {
	isLate := make(chan struct{})
	timer := time.AfterFunc(pty.Patience, func() {
		late()
		close(isLate)
	})
	defer timer.Stop()
	_, err := in.Pipe.Write(data)
	if err == nil && enter {
		_, err = in.Pipe.WriteString("\n")
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrClosed), errors.Is(err, unix.EPIPE):
		return errClosed
	default:
		return err
	}
	// There is no event for a read of a pipe.
	for pause := time.Millisecond; in.unread() > 0; pause = min(2*pause, breather) {
		select {
		case <-time.After(pause):
		case <-isLate:
			return nil
		case <-ctx.Done():
			return pty.ErrUnread
		}
	}
	return nil
}

// unread returns how many bytes the worker has not read yet.
func (in *Intake) unread() (n int) {
	if in.Term != nil {
		n, _ = in.Term.Unread()
	}
	if in.Pipe == nil {
		return n
	}
	_ = pty.Control(in.Pipe, func(fd int) (err error) {
		n, err = pty.CountInput(fd)
		return err
	})
	return n
}

// mapped is the size from which an input gets a memory mapping of its own, which is
// returned to the system at once and not at a later garbage collection.
const mapped = 4 << 10

func buffer(size int) (b []byte, free func(), err error) {
	if size < mapped {
		return make([]byte, size), func() {}, nil
	}
	b, err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return b, func() { _ = unix.Munmap(b) }, nil
}
