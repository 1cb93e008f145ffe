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

// paste follows the output of a program to know whether it wants bracketed paste:
// "ESC [ ? 2004 h" asks for it and the same with "l" ends it; "ESC c" resets the
// terminal. See xterm's ctlseqs, "Bracketed Paste Mode".
type paste struct {
	on atomic.Bool
	// seq is the beginning of a sequence that the last output ended with.
	seq [24]byte
	n   int
}

func (p *paste) reset() {
	p.on.Store(false)
}

func (p *paste) saw(b []byte) {
	for len(b) > 0 {
		if p.n == 0 {
			i := bytes.IndexByte(b, esc)
			if i < 0 {
				return
			}
			p.seq[0], p.n = esc, 1
			b = b[i+1:]
			continue
		}
		p.step(b[0])
		b = b[1:]
	}
}

func (p *paste) step(c byte) {
	switch {
	case c == esc:
		p.n = 1
	case p.n == len(p.seq):
		// Too long for one that sets modes.
		p.n = 0
	case p.n == 1 && c == 'c':
		p.n = 0
		p.on.Store(false)
	case p.n == 1 && c == '[', p.n == 2 && c == '?', p.n > 2 && (c >= '0' && c <= '9' || c == ';'):
		p.seq[p.n] = c
		p.n++
	case p.n > 2 && (c == 'h' || c == 'l'):
		for mode := range bytes.SplitSeq(p.seq[3:p.n], []byte(";")) {
			if string(mode) == "2004" {
				p.on.Store(c == 'h')
			}
		}
		p.n = 0
	default:
		p.n = 0
	}
}
