package server

import (
	"bytes"
	"errors"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/shim/server/nowait"
	"github.com/swarmhost/swarm/shared/shim/server/view"
)

// terminal is the worker's own terminal inside the one that the shim runs in.
type terminal struct {
	*pty.Terminal
	// outer is the terminal in which the shim runs, opened again so that no other process's
	// descriptor becomes non-blocking.
	outer  *os.File
	view   *view.View
	hungup chan struct{}
	// gone says that the outer terminal is closed.
	gone   bool
	before *unix.Termios
	// asked says that the outer terminal was asked for a reply after everything that it has
	// to show; feed reports the reply on shown.
	asked atomic.Bool
	shown chan struct{}
}

// openTerminal gives the inner terminal the settings of the outer one and makes the outer
// one pass everything through.
func openTerminal() (_ *terminal, err error) {
	t := &terminal{hungup: make(chan struct{}), shown: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			t.restore()
		}
	}()
	t.before, err = pty.Settings(0)
	if err != nil {
		return nil, errors.New("standard input is not a terminal")
	}
	fd, err := unix.Open(outerTerminal, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("open terminal", err)
	}
	t.outer = os.NewFile(uintptr(fd), "terminal")
	t.view = view.New(t.outer)
	if t.Terminal, err = pty.Open(); err != nil {
		return nil, err
	}
	if err := pty.SetSettings(int(t.Inner.Fd()), t.before); err != nil {
		return nil, err
	}
	t.resize()
	raw := *t.before
	pty.Raw(&raw)
	return t, pty.SetSettings(0, &raw)
}

// closed returns the channel that is closed at the outer terminal's end; without a terminal
// it is nil.
func (t *terminal) closed() <-chan struct{} {
	if t == nil {
		return nil
	}
	return t.hungup
}

// feed copies typed input to the worker, and closes hungup when the outer terminal is
// closed.
func (t *terminal) feed(hungup chan<- struct{}) {
	buf := make([]byte, 4096)
	outer := nowait.NewReader(t.outer)
	for {
		n, err := outer.Read(buf)
		switch {
		case n > 0 && t.asked.Load():
			if bytes.Contains(buf[:n], []byte(hasShown)) {
				t.shown <- struct{}{}
				return
			}
		case n > 0:
			// There may be no worker to read it.
			_, _ = t.Master.Write(buf[:n])
		}
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if err != nil {
			close(hungup)
			return
		}
	}
}

// resetModes resets the modes that a crashed program left switched on: bracketed paste, the
// mouse, keypad and cursor modes, colours, a hidden cursor.
const resetModes = "\x1b[?2004;1000;1002;1003;1006;1l\x1b>\x1b[?25h\x1b[m"

// again makes the terminal ready for another start of the worker. It does not wait for an
// outer terminal without a reader.
func (t *terminal) again() error {
	t.view.Offer([]byte(resetModes))
	return t.Restart(t.before)
}

// resize gives the inner terminal the size of the outer one; the kernel notifies the worker.
func (t *terminal) resize() {
	if size, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ); err == nil {
		_ = t.Resize(size)
	}
}

// restore restores the settings of the outer terminal and closes both.
func (t *terminal) restore() {
	if t.before != nil {
		_ = pty.SetSettings(0, t.before)
	}
	if t.outer != nil {
		t.outer.Close()
	}
	if t.Terminal != nil {
		t.Close()
	}
}

// terminalEnv replaces the variables that describe the terminal: the caller of the spawn ran
// on another one.
func terminalEnv(env []string) []string {
	names := []string{"TERM", "TMUX", "TMUX_PANE"}
	out := environ.Unset(env, names...)
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}
