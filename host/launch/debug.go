package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/reattach"
	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/proc"
)

// DebugSession says how to run a plugin under a debugger.
type DebugSession struct {
	// Options are those of a [Set]; StartTimeout does not count.
	Options
	// Entry is the plugin as the catalog has it. Its command and its hash do not count.
	Entry catalog.Entry
	// Command is run in place of the plugin's, in the working directory of the caller. The
	// plugin is the process below it that prints the line of the handshake.
	Command []string
	// Stdin is the standard input of the command; nil: none, and then the signals of the
	// caller's terminal do not reach the command.
	Stdin *os.File
	// Stdout and Stderr get what the command and the plugin print.
	Stdout, Stderr io.Writer
	// Ready is called once hosts use the plugin, with its pid.
	Ready func(pid int)
}

// terminal is where a command under a debugger reads and prints.
type terminal struct {
	in       *os.File
	out, err io.Writer
}

// endGrace is how long a debugger may take to end after SIGTERM.
const endGrace = 2 * time.Second

// Debug runs a plugin under a debugger. From the line of its handshake on, until it ends or ctx
// does, all hosts of the state directory use it, see package reattach. Then the command and the
// plugin are ended.
func Debug(ctx context.Context, d DebugSession) (err error) {
	name := d.Entry.Name
	if other, err := reattach.Find(d.Dir, name); err != nil || other != nil {
		if err == nil {
			err = fmt.Errorf("plugin '%s' is being debugged already, by pid %d", name, other.Holder.PID)
		}
		return err
	}
	settings, err := encodeConfig(d.Entry)
	if err != nil {
		return err
	}
	o := d.Options
	o.StartTimeout, o.terminal = patience, &terminal{d.Stdin, d.Stdout, d.Stderr}
	s := New(o)
	defer s.Close()
	sockets, err := s.socketDir()
	if err != nil {
		return err
	}
	p := &child{name: name}
	// Only this user's processes reach the socket, and no certificate could be handed on to hosts.
	p.prepare(catalog.Entry{Name: name, Command: d.Command}, s.opts, sockets)
	p.proc.runsUnder(s.opts.terminal)
	var session reattach.Session
	defer func() { p.endDebugged(session.Server) }()
	stop := context.AfterFunc(ctx, func() {
		<-p.proc.started
		_ = p.proc.Kill(ctx)
	})
	defer stop()

	dispensed, err := p.dispense()
	if err != nil {
		p.proc.unstarted(err)
		return p.explainDebug(ctx, err)
	}
	c, err := connect(ctx, dispensed, s.opts.RunDirs, settings)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return p.explainCall(ctx, 0, err)
	}
	if theirs := c.Info().Name; theirs != name {
		return &catalog.NameError{Name: name, Path: d.Command[0], Theirs: theirs, Configured: true}
	}
	session = reattach.Session{Plugin: c.Info()}
	if err := p.identify(ctx, &session); err != nil {
		return err
	}
	forget, err := session.Keep(d.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, forget()) }()
	if d.Ready != nil {
		d.Ready(session.Server.PID)
	}
	return p.awaitDebugged(ctx, session.Server)
}

// runsUnder makes the process one that a person sees: in their working directory, and with their
// terminal as its standard input, if it reads.
func (p *process) runsUnder(t *terminal) {
	p.cmd.Dir = ""
	p.cmd.SysProcAttr = proc.EndWithParent(syscall.SIGKILL)
	if t.in == nil {
		p.cmd.SysProcAttr.Setpgid = true
	} else {
		p.cmd.Stdin = t.in
	}
}

// identify completes a session with the processes that belong to it.
func (p *child) identify(ctx context.Context, s *reattach.Session) error {
	at := p.client.ReattachConfig()
	if at == nil || at.Addr.Network() != "unix" {
		return fmt.Errorf("plugin '%s' does not serve on a unix socket", p.name)
	}
	s.Socket = at.Addr.String()
	conn, server, err := reattach.Dial(ctx, s.Socket)
	if err == nil {
		s.Server = server
		s.Holder, err = proc.Identify(os.Getpid())
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		return fmt.Errorf("plugin '%s': cannot learn which process serves: %w", p.name, err)
	}
	return nil
}

// explainDebug returns why a plugin under a debugger does not serve.
func (p *child) explainDebug(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.proc.err != nil:
		return execError(p.name, p.proc.path, p.proc.err)
	case p.proc.running():
		if line := p.proc.handshake.line(); line != "" {
			err = errors.Join(handshakeError(p.name, line), err)
		}
		return fmt.Errorf("plugin '%s': cannot connect: %w", p.name, err)
	}
	return fmt.Errorf("the command ended before plugin '%s' had printed its handshake (%s)", p.name, p.proc.cmd.ProcessState)
}

// awaitDebugged waits for the end of the plugin, or of the command that runs it.
func (p *child) awaitDebugged(ctx context.Context, server proc.Identity) error {
	gone := make(chan struct{})
	watching, leave := context.WithCancel(context.Background())
	defer leave()
	go func() {
		defer close(gone)
		_ = proc.AwaitEnd(watching, server)
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-gone:
	case <-p.proc.exited:
	}
	// A debugger has a moment to say how the plugin ended, and to end with it.
	select {
	case <-p.proc.exited:
		if st := p.proc.cmd.ProcessState; !st.Success() {
			return fmt.Errorf("the command of plugin '%s' has ended (%s)", p.name, st)
		}
	case <-time.After(endGrace):
	case <-ctx.Done():
	}
	return nil
}

// endDebugged ends the command, and the plugin even if its debugger leaves it stopped. Workers
// that the plugin has started are in sessions of their own.
func (p *child) endDebugged(server proc.Identity) {
	if p.proc.cmd.Process != nil && p.proc.running() {
		to := p.proc.cmd.Process.Pid
		if p.proc.cmd.SysProcAttr.Setpgid {
			to = -to
		}
		_ = unix.Kill(to, unix.SIGTERM)
		select {
		case <-p.proc.exited:
		case <-time.After(endGrace):
		}
	}
	_ = server.Signal(syscall.SIGKILL)
	p.givenUp.Store(false)
	p.close()
}

// handshakes reads what a command prints, and passes on the line of a plugin's handshake alone:
// debuggers print lines of their own before it, or a prompt in front of it. Everything else is
// shown.
type handshakes struct {
	from  io.Reader
	shown io.Writer
	// held is what may be the beginning of the line.
	held []byte
	// found is the line, with its end, less what was passed on; was is the line itself.
	found []byte
	was   string
}

// handshakeLine is what a plugin prints when it serves, see docs/protocol.md.
var handshakeLine = lazyregexp.New(`\d+\|\d+\|(unix|tcp)\|[^|\s]+\|[a-z]+[^\s]*\r?$`)

// beginsHandshake finds where in an unfinished line the handshake may begin.
var beginsHandshake = lazyregexp.New(`\d+(\|.*)?$`)

func (h *handshakes) line() string {
	if h == nil {
		return ""
	}
	return h.was
}

// Read returns the line of the handshake, and nothing else.
func (h *handshakes) Read(b []byte) (int, error) {
	for len(h.found) == 0 {
		var chunk [4096]byte
		n, err := h.from.Read(chunk[:])
		h.take(chunk[:n])
		if err != nil && len(h.found) == 0 {
			h.show(h.held)
			h.held = nil
			return 0, err
		}
	}
	n := copy(b, h.found)
	h.found = h.found[n:]
	return n, nil
}

func (h *handshakes) take(p []byte) {
	if h.was != "" {
		h.show(p)
		return
	}
	h.held = append(h.held, p...)
	for {
		line, rest, whole := bytes.Cut(h.held, []byte{'\n'})
		if !whole {
			break
		}
		if at := handshakeLine().FindIndex(line); at != nil {
			h.was = string(bytes.TrimRight(line[at[0]:], "\r"))
			h.found = append([]byte(h.was), '\n')
			h.show(line[:at[0]])
			h.show(rest)
			h.held = nil
			return
		}
		h.show(h.held[:len(line)+1])
		h.held = rest
	}
	keep := len(h.held)
	if at := beginsHandshake().FindIndex(h.held); at != nil {
		keep = at[0]
	}
	h.show(h.held[:keep])
	h.held = h.held[keep:]
}

// show prints what a person may read. An error is for the terminal's owner to notice.
func (h *handshakes) show(p []byte) {
	if len(p) > 0 {
		_, _ = h.shown.Write(p)
	}
}

// Close makes it an io.ReadCloser.
func (h *handshakes) Close() error { return nil }
