package pty

import (
	"bytes"
	"sync/atomic"
)

const (
	esc        = 0x1b
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// modes follows the output of a program to know the expected form of its input. "ESC [
// ? 2004 h" asks for bracketed paste, "ESC [ ? 1 h" for the other sequences of the
// cursor keys; the same with "l" ends it, "ESC c" resets the terminal. See xterm's
// ctlseqs, "Bracketed Paste Mode" and "DECCKM".
type modes struct {
	paste, cursor atomic.Bool
	// seq is the beginning of a sequence that the last output ended with.
	seq [24]byte
	n   int
}

func (m *modes) reset() {
	m.paste.Store(false)
	m.cursor.Store(false)
}

func (m *modes) saw(b []byte) {
	for len(b) > 0 {
		if m.n == 0 {
			i := bytes.IndexByte(b, esc)
			if i < 0 {
				return
			}
			m.seq[0], m.n = esc, 1
			b = b[i+1:]
			continue
		}
		m.step(b[0])
		b = b[1:]
	}
}

func (m *modes) step(c byte) {
	switch {
	case c == esc:
		m.n = 1
	case m.n == len(m.seq):
		// The sequence is too long to set modes.
		m.n = 0
	case m.n == 1 && c == 'c':
		m.n = 0
		m.reset()
	case m.n == 1 && c == '[', m.n == 2 && c == '?', m.n > 2 && (c >= '0' && c <= '9' || c == ';'):
		m.seq[m.n] = c
		m.n++
	case m.n > 2 && (c == 'h' || c == 'l'):
		for mode := range bytes.SplitSeq(m.seq[3:m.n], []byte(";")) {
			switch string(mode) {
			case "1":
				m.cursor.Store(c == 'h')
			case "2004":
				m.paste.Store(c == 'h')
			}
		}
		m.n = 0
	default:
		m.n = 0
	}
}
