package command

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/shim/server/fdpass"
)

// drainLimit is how long the output of a terminal may follow the end of its command: processes that
// the command has left may hold the terminal open.
const drainLimit = 200 * time.Millisecond

// terminal is the terminal of the command inside the one of this program.
type terminal struct {
	*pty.Terminal
	before *unix.Termios
	// shown is closed when all output was copied.
	shown chan struct{}
}

func openTerminal() (*terminal, error) {
	before, err := pty.Settings(0)
	if err != nil {
		return nil, errors.New("stdin is not a terminal: leave out -t")
	}
	t := &terminal{before: before, shown: make(chan struct{})}
	if t.Terminal, err = pty.Open(); err != nil {
		return nil, err
	}
	if err := pty.SetSettings(int(t.Inner.Fd()), before); err != nil {
		return nil, err
	}
	t.resize()
	return t, nil
}

func (t *terminal) streams() *fdpass.Files {
	fd := int(t.Inner.Fd())
	return &fdpass.Files{fd, fd, fd}
}

// relay begins to copy between both terminals. With false it ends that, once all output is copied.
func (t *terminal) relay(begin bool) {
	if !begin {
		_ = t.Master.SetReadDeadline(time.Now().Add(drainLimit))
		<-t.shown
		t.restore()
		return
	}
	raw := *t.before
	pty.Raw(&raw)
	_ = pty.SetSettings(0, &raw)
	// The command has it: when that closes it, the master reads its end.
	t.Inner.Close()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGWINCH, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT)
	go func() {
		for s := range signals {
			if s == unix.SIGWINCH {
				t.resize()
				continue
			}
			t.restore()
			os.Exit(128 + int(s.(unix.Signal))) //nolint:forbidigo // main waits for the command
		}
	}()
	go func() {
		// After the end of the terminal there is nothing to pass keys to.
		_, _ = io.Copy(t.Master, os.Stdin)
	}()
	go func() {
		defer close(t.shown)
		_, _ = io.Copy(os.Stdout, t.Master)
	}()
}

// resize gives the command's terminal the size of this program's; the kernel notifies the command.
func (t *terminal) resize() {
	if size, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ); err == nil {
		_ = t.Resize(size)
	}
}

func (t *terminal) restore() { _ = pty.SetSettings(0, t.before) }
