package pty

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// MaxLine is the longest line, without its end, that a terminal in line mode accepts, see
// termios(3): the kernel silently drops the rest.
const MaxLine = 4095

// Refused is the error for a text that can't arrive unchanged. It holds the reason, in
// words for the user; nothing was given.
type Refused string

// Error returns the reason.
func (r Refused) Error() string { return string(r) }

type mode struct {
	// line is line mode, with literal as the "literal next" character, if there is
	// one.
	line    bool
	literal byte
	// acts are the characters that do not arrive when given plainly.
	acts [256]bool
	// strips says that the eighth bit of every byte is dropped.
	strips bool
	// enter, interrupt and eof are what these keys send.
	enter, interrupt, eof byte
}

func modeOf(t *unix.Termios) mode {
	m := mode{line: t.Lflag&unix.ICANON != 0, strips: t.Iflag&unix.ISTRIP != 0, enter: '\r'}
	extended := t.Lflag&unix.IEXTEN != 0
	on := func(keys []int) {
		for _, k := range keys {
			if t.Cc[k] != disabled {
				m.acts[t.Cc[k]] = true
			}
		}
	}
	if t.Lflag&unix.ISIG != 0 {
		on(signalKeys)
	}
	if t.Iflag&unix.IXON != 0 {
		on([]int{unix.VSTART, unix.VSTOP})
	}
	if m.line {
		on(lineKeys)
		if extended {
			on(moreKeys)
			m.literal = key(t, unix.VLNEXT, 0)
		}
	}
	if t.Iflag&(unix.ICRNL|unix.IGNCR) != 0 {
		m.acts['\r'] = true
	}
	if t.Iflag&unix.INLCR != 0 {
		m.acts['\n'] = true
	}
	if t.Iflag&unix.IGNCR != 0 || m.line && t.Iflag&unix.ICRNL == 0 {
		m.enter = '\n'
	}
	m.interrupt, m.eof = key(t, unix.VINTR, 0x03), key(t, unix.VEOF, 0x04)
	return m
}

// key returns the character of a special key, or otherwise if it is switched off.
func key(t *unix.Termios, index int, otherwise byte) byte {
	if c := t.Cc[index]; c != disabled {
		return c
	}
	return otherwise
}

// check returns an error if data can't arrive unchanged after held bytes of the same line.
func (m mode) check(data []byte, held int, bracketed bool) error {
	for _, c := range data {
		switch {
		case m.acts[c] && (c == '\n' || m.literal == 0):
			return Refused("the worker's terminal acts on " + charName(c) + ", which would not arrive")
		case m.strips && c >= 0x80:
			return Refused("the worker's terminal accepts only seven bits of a byte")
		}
	}
	if bracketed && bytes.Contains(data, []byte(pasteEnd)) {
		return Refused("the text contains the sequence that ends a paste")
	}
	if !m.line {
		return nil
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if n := held + len(line); n > MaxLine {
			return Refused("a line of " + strconv.Itoa(n) + " bytes: the worker's terminal is in line mode and takes " +
				strconv.Itoa(MaxLine) + " of a line")
		}
		held = 0
	}
	return nil
}

// cut returns the first piece of data, encoded as it has to be written, and its length in
// data: a line in line mode, else at most window.
func (m mode) cut(data []byte) (piece []byte, used int) {
	if !m.line {
		used = min(len(data), window)
		return data[:used], used
	}
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		data = data[:i+1]
	}
	for _, c := range data {
		if m.acts[c] {
			piece = append(piece, m.literal)
		}
		piece = append(piece, c)
	}
	return piece, len(data)
}

// charName is the usual notation of a character that does not print.
func charName(c byte) string {
	switch {
	case c == '\r':
		return "a carriage return"
	case c == '\n':
		return "a newline"
	case c < ' ':
		return "Ctrl-" + string(rune(c+'@'))
	case c == 0x7f:
		return "Delete"
	default:
		return strconv.QuoteRuneToASCII(rune(c))
	}
}
