package pty

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// Patience is how long Give waits for the program before it calls Late.
	Patience = 3 * time.Second
	// pastePatience is how long Give waits for a program to accept pastes: agents draw
	// their prompt seconds before they read.
	pastePatience = 10 * time.Second
	// window is how much may be unread before more is written. The kernel accepts 4,095 bytes;
	// with space left, an interrupt gets through.
	window = 2048
	// EnterAfter is the default pause between a text and Enter: programs recognize a paste by
	// the speed of its keys, and treat an Enter within 120 ms as a line break in the paste.
	EnterAfter = 150 * time.Millisecond
)

// ErrUnread is the error of a Give that ended after the kernel had all of the text, but
// before the program had read it.
var ErrUnread = errors.New("not read")

// ErrNoPaste is the error of a Give with PasteOnly if the program does not ask for
// bracketed paste. Nothing was given.
var ErrNoPaste = errors.New("the worker's program does not take pasted text yet")

// errFull says that the kernel accepts no more input now.
var errFull = errors.New("terminal is full")

// GiveOptions holds the options of Give.
type GiveOptions struct {
	// Enter says to press Enter after the text.
	Enter bool
	// EnterAfter is the shortest time between the moment at which the program has
	// read the text and Enter, if the terminal is not in line mode. 0: [EnterAfter].
	EnterAfter time.Duration
	// PasteOnly says to give a text that is not empty in paste brackets or not at all:
	// Give waits until the program has left line mode and has asked for them, and
	// returns [ErrNoPaste] if it has not within seconds.
	PasteOnly bool
	// Late is called once, if it is not nil, when the program has not read all of it
	// within [Patience].
	Late func()
}

// Give gives data to the program, in paste brackets if the program asked for them
// and is not in line mode. It returns nil once the program has read all of it, or,
// after Late was called, as soon as all is handed over to the kernel.
//
// The error is a [Refused] if nothing was given because it would not arrive as it
// is. A context that ends, or a terminal that is closed, ends it in the middle.
func (t *Terminal) Give(ctx context.Context, data []byte, g GiveOptions) error {
	if g.PasteOnly && len(data) > 0 {
		if err := t.awaitPaste(ctx); err != nil {
			return err
		}
	}
	m, err := t.mode()
	if err != nil {
		return err
	}
	bracketed := !m.line && len(data) > 0 && t.modes.paste.Load()
	if err := m.check(data, t.heldIn(m), bracketed); err != nil {
		return err
	}
	w := newWaiter(g.Late)
	defer w.timer.Stop()
	parts := [][]byte{data}
	switch whole := len(pasteBegin) + len(data) + len(pasteEnd); {
	case bracketed && whole <= window:
		parts = [][]byte{slices.Concat([]byte(pasteBegin), data, []byte(pasteEnd))}
	case bracketed:
		parts = [][]byte{[]byte(pasteBegin), data, []byte(pasteEnd)}
	}
	for _, part := range parts {
		if m, err = t.give(ctx, w, m, part); err != nil {
			return err
		}
	}
	if g.Enter {
		if err := t.pressEnter(ctx, w, m, g, len(data) > 0); err != nil {
			return err
		}
	}
	if err := w.last(ctx, t.hasRead); err != nil {
		return errors.Join(ErrUnread, err)
	}
	return nil
}

func (t *Terminal) awaitPaste(ctx context.Context) error {
	w := newWaiter(nil)
	defer w.timer.Stop()
	w.until = time.Now().Add(pastePatience)
	takes := false
	err := w.last(ctx, func() (bool, error) {
		m, err := t.mode()
		takes = !m.line && t.modes.paste.Load()
		return takes, err
	})
	if err == nil && !takes {
		err = ErrNoPaste
	}
	return err
}

// give writes data piece by piece, according to the current mode.
func (t *Terminal) give(ctx context.Context, w *waiter, m mode, data []byte) (mode, error) {
	for len(data) > 0 {
		now, err := t.mode()
		if err != nil {
			return m, err
		}
		if now != m {
			// The program has changed the settings in the middle.
			if err := now.check(data, t.heldIn(now), false); err != nil {
				return m, errors.New("not all of it was given: " + err.Error())
			}
			m = now
		}
		piece, used := m.cut(data)
		err = w.wait(ctx, func() (bool, error) {
			n, err := t.Unread()
			return n == 0 || n+len(piece) <= window, err
		})
		if err != nil {
			return m, err
		}
		if err := t.write(ctx, w, piece); err != nil {
			return m, err
		}
		t.hold(m, data[:used])
		data = data[used:]
	}
	return m, nil
}

// pressEnter sends the code of the Enter key. In line mode it only finishes the line;
// otherwise it has to come by itself.
func (t *Terminal) pressEnter(ctx context.Context, w *waiter, m mode, g GiveOptions, afterText bool) error {
	if !m.line && afterText {
		if err := w.wait(ctx, t.hasRead); err != nil {
			return err
		}
		if err := w.pause(ctx, cmp.Or(g.EnterAfter, EnterAfter)); err != nil {
			return err
		}
	}
	if err := t.write(ctx, w, []byte{m.enter}); err != nil {
		return err
	}
	t.held.Store(0)
	return nil
}

// Interrupt presses the interrupt key, at once.
func (t *Terminal) Interrupt() error {
	m, err := t.mode()
	if err != nil {
		return err
	}
	t.held.Store(0)
	_, err = t.put([]byte{m.interrupt})
	return err
}

// EOF presses the end-of-file key, at once. After an unfinished line that was given in line
// mode it presses it twice: the first one only ends that line.
func (t *Terminal) EOF() error {
	m, err := t.mode()
	if err != nil {
		return err
	}
	keys := []byte{m.eof}
	if t.heldIn(m) > 0 {
		keys = append(keys, m.eof)
	}
	t.held.Store(0)
	_, err = t.put(keys)
	return err
}

// write writes all of b, as space becomes free.
func (t *Terminal) write(ctx context.Context, w *waiter, b []byte) error {
	return w.wait(ctx, func() (bool, error) {
		n, err := t.put(b)
		b = b[n:]
		if errors.Is(err, errFull) {
			err = nil
		}
		return len(b) == 0, err
	})
}

// put writes as much as there is space for.
func (t *Terminal) put(b []byte) (n int, err error) {
	err = Control(t.Master, func(fd int) (err error) {
		n, err = unix.Write(fd, b)
		return os.NewSyscallError("write", err)
	})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		err = errFull
	}
	return max(n, 0), err
}

func (t *Terminal) mode() (mode, error) {
	var settings *unix.Termios
	err := Control(t.Inner, func(fd int) (err error) {
		settings, err = Settings(fd)
		return err
	})
	if err != nil {
		return mode{}, err
	}
	return modeOf(settings), nil
}

func (t *Terminal) hasRead() (bool, error) {
	n, err := t.Unread()
	return n == 0, err
}

// Unread returns how much the program could read at once. Unfinished lines in line mode do
// not count: they can't be read.
func (t *Terminal) Unread() (n int, err error) {
	ready := false
	err = Control(t.Inner, func(fd int) (err error) {
		// The order matters: written data may still be on its way between the two ends, and
		// poll waits for it.
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, _ = unix.Poll(p, 0)
		ready = p[0].Revents&unix.POLLIN != 0
		n, err = CountInput(fd)
		return err
	})
	if n == 0 && ready {
		// An end of file has no bytes.
		n = 1
	}
	return n, err
}

func (t *Terminal) heldIn(m mode) int {
	if !m.line {
		return 0
	}
	return int(t.held.Load())
}

// hold records the rest of a line that was not finished.
func (t *Terminal) hold(m mode, given []byte) {
	switch {
	case !m.line, given[len(given)-1] == '\n':
		t.held.Store(0)
	default:
		t.held.Add(int64(len(given)))
	}
}
