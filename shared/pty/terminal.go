package pty

import (
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Terminal is a pseudo-terminal. It is made by [Open]. All methods may be called
// at the same time, but for [Terminal.Give] and [Terminal.PressKeys], which are for one goroutine at a
// time.
type Terminal struct {
	// Master is read for the output of the program; each piece of it goes to [Terminal.Saw]
	// too. Keys that a person typed may be written to it.
	Master *os.File
	// Inner is what the program gets as its standard streams. It stays open here as well:
	// without it the settings can't be read, and reading Master fails if no process has it
	// open. Closing it after the end of the program ends Master's reader.
	Inner *os.File

	modes modes
	// held is how much of an unfinished line was given in line mode.
	held atomic.Int64
}

// Open opens a new terminal with the kernel's settings and no size.
func Open() (*Terminal, error) {
	master, inner, err := open()
	if err != nil {
		return nil, err
	}
	return &Terminal{Master: master, Inner: inner}, nil
}

// Saw records the output of the program, every piece in order: it shows whether the program
// wants bracketed paste, and which sequences it expects from the cursor keys.
func (t *Terminal) Saw(output []byte) { t.modes.saw(output) }

// Restart makes the terminal ready for another program after the first one ended: it
// gets the given settings, and unread input is dropped.
func (t *Terminal) Restart(settings *unix.Termios) error {
	t.modes.reset()
	t.held.Store(0)
	return Control(t.Inner, func(fd int) error {
		if err := SetSettings(fd, settings); err != nil {
			return err
		}
		return os.NewSyscallError("tcflush", flushInput(fd))
	})
}

// Resize sets the size; the kernel notifies the program.
func (t *Terminal) Resize(size *unix.Winsize) error {
	return Control(t.Master, func(fd int) error {
		return os.NewSyscallError("set size", unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size))
	})
}

// Close closes both ends.
func (t *Terminal) Close() {
	t.Master.Close()
	t.Inner.Close()
}

// Settings returns the settings of the terminal behind a descriptor.
func Settings(fd int) (*unix.Termios, error) {
	t, err := unix.IoctlGetTermios(fd, getSettings)
	return t, os.NewSyscallError("tcgetattr", err)
}

// SetSettings changes them.
func SetSettings(fd int, t *unix.Termios) error {
	return os.NewSyscallError("tcsetattr", unix.IoctlSetTermios(fd, setSettings, t))
}

// CountInput returns how many bytes can be read at once from a terminal or a pipe.
func CountInput(fd int) (int, error) {
	n, err := unix.IoctlGetInt(fd, countInput)
	return n, os.NewSyscallError("count input", err)
}

// Raw switches off all processing of input and output in settings, as cfmakeraw(3) does.
func Raw(t *unix.Termios) {
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag &^= unix.CSIZE | unix.PARENB
	t.Cflag |= unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
}

// Control calls run with the descriptor of a file that another goroutine may close, read or
// write meanwhile. It never waits for one of these.
func Control(f *os.File, run func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if controlErr := raw.Control(func(fd uintptr) { err = run(int(fd)) }); controlErr != nil {
		return controlErr
	}
	return err
}
