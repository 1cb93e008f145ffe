// Package control serves the control socket of a shim: it accepts the clients, reads their
// requests and gives their input to the worker. Only package server imports it.
package control

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/fdpass"
	"github.com/swarmhost/swarm/shared/shim/server/nowait"
)

const (
	// maxClients is how many clients may wait at once, and maxKills how many more may wait
	// for a kill: waiting clients can't prevent a kill.
	maxClients = 1000
	maxKills   = 64
	// maxEntering is how many clients may be connected that have not sent their
	// request yet.
	maxEntering = 64
	// patience is how long a client may take to send its request.
	patience = 10 * time.Second
	// breather is how long to wait for a free file descriptor, for which there is no event.
	breather = 100 * time.Millisecond
)

// Control is the control socket of a shim, with its clients.
type Control struct {
	socket *os.File
	// left are clients whose files are to be closed, see [Client.leave].
	left chan *Client
	// entering holds a token for each client whose request has not arrived yet; clients and
	// kills hold one for each served client.
	entering, clients, kills chan struct{}
}

// Request is the request of a client.
type Request struct {
	rundir.Request
	// From gets the answer.
	From *Client
	// Intake is for input: it gets what takes the input, or nil if the client was
	// answered otherwise.
	Intake chan<- *Intake
	// Exec and Files are for exec. The receiver closes the files.
	Exec  rundir.Exec
	Files *fdpass.Files
}

// Refuse answers a request without carrying it out.
func (r Request) Refuse(a rundir.Answer) {
	r.From.Last(a)
	if r.Intake != nil {
		close(r.Intake)
	}
	r.Files.Close()
}

// Listen takes over the run directory's control socket and sends its requests to the
// channel requests.
func Listen(requests chan<- Request) (*Control, error) {
	fd, err := socket()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	c := &Control{
		socket:   os.NewFile(uintptr(fd), rundir.Socket),
		left:     make(chan *Client),
		entering: make(chan struct{}, maxEntering),
		clients:  make(chan struct{}, maxClients),
		kills:    make(chan struct{}, maxKills),
	}
	_ = os.Remove(rundir.Socket)
	// The mode must be right from the first moment on, so no chmod.
	mask := unix.Umask(0o177)
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: rundir.Socket})
	unix.Umask(mask)
	if err == nil {
		err = unix.Listen(fd, 128)
	}
	if err != nil {
		c.socket.Close()
		return nil, os.NewSyscallError("bind "+rundir.Socket, err)
	}
	go c.accept(requests)
	return c, nil
}

// Close closes and removes the socket.
func (c *Control) Close() {
	c.socket.Close()
	_ = os.Remove(rundir.Socket)
}

// Left returns the clients that have left. Each of them has to be released.
func (c *Control) Left() <-chan *Client { return c.left }

func (c *Control) accept(requests chan<- Request) {
	raw, err := c.socket.SyscallConn()
	if err != nil {
		return
	}
	for {
		c.entering <- struct{}{}
		fd := -1
		var failed error
		err := raw.Read(func(s uintptr) bool {
			fd, failed = accept(int(s))
			return !errors.Is(failed, unix.EAGAIN)
		})
		if err != nil {
			return
		}
		if failed != nil {
			// Too many files: the client stays in the queue.
			<-time.After(breather)
			<-c.entering
			continue
		}
		if !sameUser(fd) {
			c.newClient(fd).leave()
			<-c.entering
			continue
		}
		go c.attend(c.newClient(fd), requests)
	}
}

func (c *Control) newClient(fd int) *Client {
	f := os.NewFile(uintptr(fd), "client")
	return &Client{file: f, from: nowait.NewReader(f), gone: c.left}
}

// attend reads the only request of a client, and then waits until the client disconnects.
func (c *Control) attend(cl *Client, requests chan<- Request) {
	var r rundir.Request
	_ = cl.file.SetReadDeadline(time.Now().Add(patience))
	line, err := cl.line()
	if err == nil {
		r, err = rundir.ParseRequest(line)
	}
	var slot chan struct{}
	if err == nil {
		slot = c.admit(r.Verb)
	}
	<-c.entering
	switch {
	case err != nil:
		cl.finish(rundir.Answer{Kind: rundir.AnswerError, Text: err.Error()})
		return
	case slot == nil && r.Verb == rundir.VerbWatch:
		// Without an answer it waits for the end of the shim, which is the same.
		cl.leave()
		return
	case slot == nil:
		cl.finish(rundir.Answer{Kind: rundir.AnswerBusy, Text: "too many clients wait for the worker"})
		return
	}
	switch r.Verb {
	case rundir.VerbInput:
		cl.input(r, requests)
	case rundir.VerbExec:
		cl.exec(r, requests)
	default:
		_ = cl.file.SetReadDeadline(time.Time{})
		requests <- Request{Request: r, From: cl}
		cl.watch()
	}
	<-slot
}

// admit returns the tokens from which a request takes one, or nil if there is no space.
func (c *Control) admit(verb string) chan struct{} {
	select {
	case c.clients <- struct{}{}:
		return c.clients
	default:
	}
	if verb != rundir.VerbKill {
		return nil
	}
	select {
	case c.kills <- struct{}{}:
		return c.kills
	default:
		return nil
	}
}

// Client is a connection to the control socket. It has one request.
type Client struct {
	file *os.File
	// gone gets the client when it leaves.
	gone chan<- *Client
	// from reads the file.
	from *nowait.Reader
	// left says that the client has disconnected.
	left atomic.Bool
	// keepsOpen says that the client does not close the terminal, see [rundir.Continue].
	keepsOpen atomic.Bool
	// Late says that the request came after the end of the worker.
	Late bool
	// Watches says that the client gets changes.
	Watches bool
	// ahead holds the bytes that were read beyond the request.
	ahead []byte
}

// line reads up to a newline. It keeps the bytes beyond that in ahead.
func (c *Client) line() (string, error) {
	// Most requests are this short.
	buf := make([]byte, 0, 128)
	for len(buf) < rundir.MaxLine {
		buf = slices.Grow(buf, 1)
		n, err := c.from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if i := bytes.IndexByte(buf, '\n'); i >= 0 && i < rundir.MaxLine {
			c.ahead = buf[i+1:]
			return string(buf[:i]), nil
		}
		if err != nil {
			return "", errors.New("incomplete request")
		}
	}
	return "", errors.New("request too long")
}

// watch returns when the other side has closed, or Last was called. A client that only shut
// down its sending side still reads. The only line that may follow a request is
// [rundir.Continue].
func (c *Client) watch() {
	var buf [64]byte
	for {
		n, err := c.from.Read(buf[:])
		if n > 0 {
			c.keepsOpen.Store(true)
		}
		if errors.Is(err, io.EOF) && !c.hungUp() {
			return
		}
		if err != nil {
			c.left.Store(true)
			c.leave()
			return
		}
	}
}

func (c *Client) hungUp() bool {
	gone := true
	_ = pty.Control(c.file, func(fd int) error {
		gone = hungUp(fd)
		return nil
	})
	return gone
}

// Say sends one line. It never blocks: lines are few and short, and a client that does not
// read them must not stop the shim.
func (c *Client) Say(a rundir.Answer) {
	_ = pty.Control(c.file, func(fd int) error {
		send(fd, []byte(a.String()+"\n"))
		return nil
	})
}

// Last sends the last line. Only the goroutine that gets the requests calls it.
func (c *Client) Last(a rundir.Answer) {
	c.Say(a)
	c.file.Close()
}

// HasLeft reports whether the client has disconnected.
func (c *Client) HasLeft() bool { return c.left.Load() }

// KeepsOpen reports whether the client has said that it does not close the terminal.
func (c *Client) KeepsOpen() bool { return c.keepsOpen.Load() }

// Release closes the file of a client from [Control.Left].
func (c *Client) Release() { c.file.Close() }

// finish is Last for the goroutine of the client.
func (c *Client) finish(a rundir.Answer) {
	c.Say(a)
	c.leave()
}

// leave ends the connection and has the receiver of [Control.Left] release the client: to close a
// file is a call that may wait. Without a receiver the end of the shim closes the file.
func (c *Client) leave() {
	_ = pty.Control(c.file, func(fd int) error {
		hangUp(fd)
		return nil
	})
	c.gone <- c
}
