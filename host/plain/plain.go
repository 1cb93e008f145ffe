// Package plain makes plain text of what programs write to terminals. It is
// imported by host and cmd/swarm and imports nothing of ours.
package plain

import (
	"bytes"
	"strconv"
)

const (
	// maxParams is how much of the parameters of a sequence is kept.
	maxParams = 64
	// maxBlanks is how far to the right a cursor can be moved: a wide screen.
	maxBlanks = 512
)

// Text takes terminal sequences out of a stream (ECMA-48: CSI, OSC, DCS and
// the like, and single escapes) that comes in pieces: a sequence may begin in one
// and end in a later one. Of the control characters tab and newline stay. Its
// zero value is ready. Where the cursor is moved to the right there are blanks
// then, and where it is moved to another line a new one begins.
type Text struct {
	// Colours keeps the sequences that only change how letters look (SGR), and no
	// others. The text of each piece that is returned, and of each line in it, begins
	// with what is in force and ends with a reset, so that a terminal is left as it
	// was whatever is written next. A line of the stream begins without colours.
	Colours bool
	colours colours
	// Mode is told of each private mode that the program turns on or off, such as
	// 2004 for bracketed paste; nil: nobody.
	Mode  func(mode int, on bool)
	state state
	// params are those of the CSI sequence that is read, as far as they are kept.
	params []byte
	// begun says that there is text on this line.
	begun bool
	// cr says that a carriage return came after that: before a newline it is
	// none, before text it begins a line that was written over the one before.
	cr bool
	// c2 says that 0xC2 came last, which begins a C1 control character in UTF-8.
	c2 bool
	// stray says that a 0xC2 which began nothing was the last byte returned: what
	// was left out behind it must not let it begin something after all.
	stray bool
}

type state int

const (
	ground    state = iota
	escape          // after ESC
	csi             // after ESC [, until a final byte
	str             // in OSC, DCS, SOS, PM, APC, until ST or BEL
	strEscape       // in such a string after ESC
)

// Strip returns what is left of data. end says that its line ends here, and with
// it any sequence: none goes over the end of a line.
func (p *Text) Strip(data []byte, end bool) []byte {
	out := make([]byte, 0, len(data)+1)
	for _, c := range data {
		out = p.next(out, c)
	}
	if end && p.c2 {
		out = append(p.colours.begin(out), 0xc2)
	}
	out = p.colours.end(out)
	if end {
		*p = Text{Mode: p.Mode, Colours: p.Colours}
	}
	return out
}

func (p *Text) next(out []byte, c byte) []byte {
	switch p.state {
	case ground:
		return p.text(out, c)
	case escape:
		p.after(c)
	case csi:
		// 0x40–0x7E ends it; parameters and intermediates are below.
		switch {
		case c == 0x1b:
			p.state = escape
		case c >= 0x40 && c <= 0x7e:
			p.state = ground
			return p.control(out, c)
		case c == 0x18 || c == 0x1a:
			p.state = ground
		case len(p.params) < maxParams:
			p.params = append(p.params, c)
		}
	case str:
		switch {
		case c == 0x07 || c == 0x18 || c == 0x1a || c == 0x9c && p.c2:
			p.state = ground
		case c == 0x1b:
			p.state = strEscape
		}
		p.c2 = c == 0xc2
	case strEscape:
		// ESC \ is ST; ESC and anything else ends the string and begins anew.
		if c == '\\' {
			p.state = ground
		} else {
			p.after(c)
		}
	}
	return out
}

// after goes on behind ESC and c.
func (p *Text) after(c byte) {
	switch {
	case c == '[':
		p.state, p.params = csi, p.params[:0]
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		p.state = str
	case c == 0x1b || c >= 0x20 && c <= 0x2f:
		p.state = escape
	default:
		p.state = ground
	}
}

// control does what of a CSI sequence matters for text.
func (p *Text) control(out []byte, final byte) []byte {
	switch final {
	case 'm':
		// A sequence that was too long to keep whole is left out.
		if p.Colours && len(p.params) < maxParams {
			out = p.colours.change(out, p.params)
		}
	case 'C':
		n, err := strconv.Atoi(string(p.params))
		if err != nil {
			n = 1
		}
		return append(p.colours.end(out), bytes.Repeat([]byte{' '}, min(max(n, 1), maxBlanks))...)
	case 'A', 'B', 'E', 'F', 'H', 'd', 'f':
		p.cr = p.begun
	case 'h', 'l':
		modes, private := bytes.CutPrefix(p.params, []byte{'?'})
		if !private || p.Mode == nil {
			break
		}
		for mode := range bytes.SplitSeq(modes, []byte{';'}) {
			if n, err := strconv.Atoi(string(mode)); err == nil {
				p.Mode(n, final == 'h')
			}
		}
	}
	return out
}

func (p *Text) text(out []byte, c byte) []byte {
	switch {
	case c == 0x1b:
		p.state = escape
		return out
	case c == '\r':
		p.cr = p.begun
		return out
	case c < 0x20 && c != '\t' && c != '\n' || c == 0x7f:
		return out
	case p.c2 && c >= 0x80 && c <= 0x9f:
		p.c2 = false
		p.after(c - 0x40)
		return out
	case p.stray && !p.c2 && c >= 0x80 && c <= 0x9f:
		return out
	}
	if p.cr {
		out = append(p.colours.end(out), '\n')
		p.cr, p.stray = false, false
	}
	if c == '\n' {
		out = p.colours.end(out)
	} else {
		out = p.colours.begin(out)
	}
	if p.c2 {
		out = append(out, 0xc2)
		p.stray = true
	}
	p.begun = c != '\n'
	if p.c2 = c == 0xc2; p.c2 {
		return out
	}
	p.stray = false
	return append(out, c)
}
