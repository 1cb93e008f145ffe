package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/swarm"
)

// drainLimit is how long nothing may arrive of the output of a command that has ended, before it counts as complete:
// processes that the command has left behind may hold its output open.
const drainLimit = 2 * time.Second

// commandOutput is what a command writes.
type commandOutput struct {
	conn  client.HijackedResponse
	ended atomic.Bool
}

// expire says that the command has ended.
func (o *commandOutput) expire() {
	o.ended.Store(true)
	_ = o.conn.Conn.SetReadDeadline(time.Now().Add(drainLimit))
}

// Read reads from the engine. It is the end of the output, too, if nothing arrives after the command has ended.
func (o *commandOutput) Read(b []byte) (int, error) {
	if o.ended.Load() {
		_ = o.conn.Conn.SetReadDeadline(time.Now().Add(drainLimit))
	}
	n, err := o.conn.Reader.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

func (o *commandOutput) copy(tty bool, stdout, stderr io.Writer) error {
	var err error
	if tty {
		_, err = io.Copy(stdout, o)
	} else {
		_, err = stdcopy.StdCopy(stdout, stderr, o)
	}
	if err != nil {
		return fmt.Errorf("%w: the output of the command broke off: %w", swarm.ErrUnavailable, err)
	}
	return nil
}

// terminal is the terminal of this process while that of a command is shown on it; nil if the command has none.
type terminal struct{ before *unix.Termios }

func openTerminal(tty bool) (*terminal, error) {
	if !tty {
		return nil, nil //nolint:nilnil // see [terminal]
	}
	before, err := pty.Settings(0)
	if err != nil {
		return nil, fmt.Errorf("%w: stdin is not a terminal: leave out -t", swarm.ErrInvalidSpec)
	}
	return &terminal{before}, nil
}

// size returns the size, zero without a terminal.
func (t *terminal) size() client.ConsoleSize {
	if t == nil {
		return client.ConsoleSize{}
	}
	size, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
	if err != nil {
		return client.ConsoleSize{}
	}
	return client.ConsoleSize{Height: uint(size.Row), Width: uint(size.Col)}
}

// begin passes all keys and each change of the size to a command, until restore.
func (t *terminal) begin(ctx context.Context, p *session) {
	if t == nil {
		return
	}
	t.resize(ctx, p) // engines of before 2023 do not take the size at the start
	raw := *t.before
	pty.Raw(&raw)
	_ = pty.SetSettings(0, &raw)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGWINCH, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT)
	go func() {
		for s := range signals {
			if s == unix.SIGWINCH {
				t.resize(ctx, p)
				continue
			}
			t.restore()
			os.Exit(signalBase + int(s.(syscall.Signal))) //nolint:forbidigo // main waits for the command
		}
	}()
}

func (t *terminal) resize(ctx context.Context, p *session) {
	if s := t.size(); s.Height > 0 && s.Width > 0 {
		ctx, cancel := context.WithTimeout(ctx, engineLimit)
		defer cancel()
		_, _ = p.e.ExecResize(ctx, p.exec, client.ExecResizeOptions(s))
	}
}

func (t *terminal) restore() {
	if t != nil {
		_ = pty.SetSettings(0, t.before)
	}
}
