package keeper

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// terminal is the worker's own terminal inside the one that the shim runs in.
type terminal struct {
	// outer is where the shim runs, opened anew so that nobody else's descriptor
	// is made non-blocking.
	outer *os.File
	// master and inner are the two ends of the worker's. The shim holds inner
	// until the end: without any holder master reads an error, and what a process
	// that opens /dev/tty later writes would be lost.
	master, inner *os.File
	hungup        chan struct{}
	before        *unix.Termios
}

// openTerminal makes the inner terminal like the outer one and turns the outer
// one into a mere line to it.
func openTerminal() (_ *terminal, err error) {
	t := &terminal{hungup: make(chan struct{})}
	defer func() {
		if err != nil {
			t.restore()
		}
	}()
	t.before, err = unix.IoctlGetTermios(0, getTermios)
	if err != nil {
		return nil, errors.New("standard input is not a terminal")
	}
	if t.outer, err = reopen(); err != nil {
		return nil, err
	}
	if t.master, t.inner, err = openPTY(); err != nil {
		return nil, err
	}
	if err := unix.IoctlSetTermios(int(t.inner.Fd()), setTermios, t.before); err != nil {
		return nil, os.NewSyscallError("tcsetattr", err)
	}
	t.resize()
	raw := *t.before
	makeRaw(&raw)
	if err := unix.IoctlSetTermios(0, setTermios, &raw); err != nil {
		return nil, os.NewSyscallError("tcsetattr", err)
	}
	return t, nil
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
		if n > 0 {
			if _, err := t.master.Write(buf[:n]); err != nil {
				return
			}
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

// resize gives the inner terminal the size of the outer one; the kernel tells the
// worker.
func (t *terminal) resize() {
	size, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
	if err != nil {
		return
	}
	raw, err := t.master.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) })
}

// restore gives the outer terminal back as it was.
func (t *terminal) restore() {
	if t.before != nil {
		_ = unix.IoctlSetTermios(0, setTermios, t.before)
	}
	for _, f := range []*os.File{t.outer, t.master, t.inner} {
		if f != nil {
			f.Close()
		}
	}
}

// terminalEnv replaces what describes the terminal: whoever asked for the worker
// sat at another one.
func terminalEnv(env []string) []string {
	names := []string{"TERM", "TMUX", "TMUX_PANE"}
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if name != names[0] && name != names[1] && name != names[2] {
			out = append(out, kv)
		}
	}
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// makeRaw is cfmakeraw(3).
func makeRaw(t *unix.Termios) {
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag &^= unix.CSIZE | unix.PARENB
	t.Cflag |= unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
}
