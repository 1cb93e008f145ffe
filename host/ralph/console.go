package ralph

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/pty"
)

// console is the terminal of the loop itself, or its pipes. Everything passes through it to
// and from the terminal of the agent.
type console struct {
	in, out *os.File
	// before are the settings of in if it is a terminal, else nil.
	before *unix.Termios
	// typed carries the input, and is closed at its end. The end of a pipe is an empty
	// piece before that.
	typed chan []byte
	// open says that the last line is unfinished.
	open bool
	// modes are the modes of the terminal that the agent has turned on or off.
	modes map[int]bool
}

func openConsole(in, out *os.File) (*console, error) {
	c := &console{in: in, out: out, typed: make(chan []byte), modes: make(map[int]bool)}
	if settings, err := pty.Settings(int(in.Fd())); err == nil {
		c.before = settings
		raw := *settings
		pty.Raw(&raw)
		if err := pty.SetSettings(int(in.Fd()), &raw); err != nil {
			return nil, err
		}
	}
	// It ends with the process: nothing interrupts the read of a terminal.
	go c.read()
	return c, nil
}

func (c *console) read() {
	defer close(c.typed)
	for {
		buf := make([]byte, 4096)
		n, err := c.in.Read(buf)
		if n > 0 {
			c.typed <- buf[:n]
		}
		if err != nil {
			if fi, err := c.in.Stat(); err == nil && fi.Mode()&os.ModeNamedPipe != 0 {
				c.typed <- nil
			}
			return
		}
	}
}

func (c *console) close() {
	if c.before != nil {
		_ = pty.SetSettings(int(c.in.Fd()), c.before)
	}
}

// write shows output of the agent. The loop continues if the output can't be written.
func (c *console) write(data []byte) {
	_, _ = c.out.Write(data)
	c.open = data[len(data)-1] != '\n'
}

// say writes a line of the loop's own.
func (c *console) say(format string, args ...any) {
	end := "\n"
	if c.before != nil {
		end = "\r\n"
	}
	text := fmt.Sprintf(format, args...) + end
	if c.open {
		text = end + text
	}
	c.write([]byte(text))
}

// tidy undoes what an agent that has ended left turned on or off: the screen of its
// own, the mouse, a hidden cursor.
func (c *console) tidy() {
	var text []byte
	for _, mode := range slices.Sorted(maps.Keys(c.modes)) {
		// All are off at first, except the wrap of long lines and the cursor.
		normal := mode == 7 || mode == 25
		if c.modes[mode] == normal {
			continue
		}
		final := 'l'
		if normal {
			final = 'h'
		}
		text = fmt.Appendf(text, "\x1b[?%d%c", mode, final)
	}
	clear(c.modes)
	if len(text) > 0 {
		open := c.open
		c.write(append(text, "\x1b[m"...))
		c.open = open
	}
}

func (c *console) resize(t *pty.Terminal) *unix.Winsize {
	size := &unix.Winsize{Row: 24, Col: 80}
	if c.before != nil {
		if own, err := unix.IoctlGetWinsize(int(c.in.Fd()), unix.TIOCGWINSZ); err == nil && own.Row > 0 && own.Col > 0 {
			size = own
		}
	}
	_ = t.Resize(size)
	return size
}
