package server

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/pty"
)

// terminal is the worker's own terminal inside the one that the shim runs in.
type terminal struct {
	*pty.Terminal
	// outer is where the shim runs, opened anew so that nobody else's descriptor
	// is made non-blocking.
	outer  *os.File
	view   *view
	hungup chan struct{}
	// gone says that the outer one is no more.
	gone   bool
	before *unix.Termios
	// asked says that the outer one was asked to answer once it has shown
	// everything, and shown is where feed says that it did.
	asked atomic.Bool
	shown chan struct{}
}

// openTerminal makes the inner terminal like the outer one and turns the outer
// one into a mere line to it.
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
	if t.outer, err = reopen(); err != nil {
		return nil, err
	}
	t.view = &view{to: t.outer}
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

// closed is the channel that tells of the outer terminal's end; without a
// terminal there is none.
func (t *terminal) closed() <-chan struct{} {
	if t == nil {
		return nil
	}
	return t.hungup
}

// feed carries what is typed to the worker, and closes hungup when nothing can be
// typed any more.
func (t *terminal) feed(hungup chan<- struct{}) {
	buf := make([]byte, 4096)
	for {
		n, err := t.outer.Read(buf)
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

// calm undoes what a program that crashed left switched on: bracketed paste, the
// mouse, keypad and cursor modes, colours, a hidden cursor.
const calm = "\x1b[?2004;1000;1002;1003;1006;1l\x1b>\x1b[?25h\x1b[m"

// again makes the terminal ready for another start of the worker. An outer one
// that nobody reads is not waited for.
func (t *terminal) again() error {
	t.view.offer([]byte(calm))
	return t.Restart(t.before)
}

// resize gives the inner terminal the size of the outer one; the kernel tells the
// worker.
func (t *terminal) resize() {
	if size, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ); err == nil {
		_ = t.Resize(size)
	}
}

// restore gives the outer terminal back as it was.
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

// terminalEnv replaces what describes the terminal: whoever asked for the worker
// sat at another one.
func terminalEnv(env []string) []string {
	names := []string{"TERM", "TMUX", "TMUX_PANE"}
	out := environ.Without(env, func(name string) bool { return slices.Contains(names, name) })
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}
