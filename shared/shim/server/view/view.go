// Package view shows a worker's output on the terminal in which its shim runs.
package view

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/server/nowait"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// slowest is how long the outer terminal may accept nothing before the worker's output
	// no longer waits for it. A slow terminal slows the worker down, as any terminal does.
	slowest = time.Second
	// behindMost is how much output is kept for a terminal that accepts nothing.
	behindMost = 64 << 10
	// cancelled ends an escape sequence of which the rest may be missing.
	cancelled = "\x18"
)

// View shows the worker's output on the outer terminal. That terminal may be frozen, for
// example with a stopped multiplexer: the log and the worker continue, and the newest
// output is shown later.
type View struct {
	to *os.File
	// writer writes to it, for one goroutine at a time.
	writer *nowait.Writer

	mu sync.Mutex
	// late says that a goroutine shows delayed output.
	late   bool
	behind []byte
	// missed counts output that is not shown at all.
	missed int64
	// until is when showing ends; zero while the worker runs.
	until time.Time
}

// New returns a view on a terminal, which is opened for it alone: its deadlines are set.
func New(to *os.File) *View { return &View{to: to, writer: nowait.NewWriter(to)} }

// Show shows b, or keeps it for later. It is for one goroutine at a time.
func (v *View) Show(b []byte) {
	v.mu.Lock()
	if v.late {
		v.keep(b)
		v.mu.Unlock()
		return
	}
	v.mu.Unlock()
	rest := v.write(b, slowest)
	if len(rest) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.late = true
	v.keep(rest)
	go v.catchUp() // ends with the terminal, or at the time of finish
}

// Offer shows b if that needs no waiting.
func (v *View) Offer(b []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.late {
		v.keep(b)
		return
	}
	if raw, err := v.to.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.Write(int(fd), b) })
	}
}

// Finish bounds the output that is still shown.
func (v *View) Finish(limit time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.until = time.Now().Add(limit)
	_ = v.to.SetWriteDeadline(v.until)
}

func (v *View) keep(b []byte) {
	if len(v.behind)+len(b) > behindMost {
		v.missed += int64(len(v.behind))
		v.behind = nil
	}
	v.behind = append(v.behind, b...)
}

func (v *View) catchUp() {
	for {
		v.mu.Lock()
		b := v.behind
		if v.missed > 0 {
			text := swarm.TranscriptMark + strconv.FormatInt(v.missed, 10) + " bytes are in the log only]"
			b = append([]byte(cancelled+"\r\n"+text+"\r\n"), b...)
		}
		v.behind, v.missed = nil, 0
		if len(b) == 0 {
			v.late = false
			v.mu.Unlock()
			return
		}
		v.mu.Unlock()
		v.write(b, 0)
	}
}

// write returns the rest that the terminal did not accept. It gives up after patience
// without progress; 0 means never.
func (v *View) write(b []byte, patience time.Duration) []byte {
	for len(b) > 0 {
		n, err := v.writeSome(b, patience)
		b = b[n:]
		switch {
		case err == nil, n > 0 && errors.Is(err, os.ErrDeadlineExceeded) && !v.over():
		case errors.Is(err, os.ErrDeadlineExceeded) && !v.over():
			return b
		default:
			// A terminal that is gone shows as a hangup.
			return nil
		}
	}
	return nil
}

func (v *View) writeSome(b []byte, patience time.Duration) (int, error) {
	v.mu.Lock()
	deadline := v.until
	if deadline.IsZero() && patience > 0 {
		deadline = time.Now().Add(patience)
	}
	_ = v.to.SetWriteDeadline(deadline)
	v.mu.Unlock()
	return v.writer.Write(b)
}

// over reports whether nothing more is to be shown.
func (v *View) over() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.until.IsZero() && !time.Now().Before(v.until)
}
