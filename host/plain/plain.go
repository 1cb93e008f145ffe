// Package plain makes plain text of what programs write to terminals. It is
// imported by host and cmd/swarm and imports nothing of ours.
package plain

// Text takes terminal sequences out of a stream (ECMA-48: CSI, OSC, DCS and
// the like, and single escapes) that comes in pieces: a sequence may begin in one
// and end in a later one. Of the control characters tab and newline stay. Its
// zero value is ready.
type Text struct {
	state state
	// begun says that there is text on this line.
	begun bool
	// cr says that a carriage return came after that: before a newline it is
	// none, before text it begins a line that was written over the one before.
	cr bool
	// c2 says that 0xC2 came last, which begins a C1 control character in UTF-8.
	c2 bool
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
	if end {
		if p.c2 {
			out = append(out, 0xc2)
		}
		*p = Text{}
	}
	return out
}

func (p *Text) next(out []byte, c byte) []byte {
	switch p.state {
	case ground:
		return p.text(out, c)
	case escape:
		p.state = afterEscape(c)
	case csi:
		// 0x40–0x7E ends it; parameters and intermediates are below.
		if c == 0x1b {
			p.state = escape
		} else if c >= 0x40 && c <= 0x7e || c == 0x18 || c == 0x1a {
			p.state = ground
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
			p.state = afterEscape(c)
		}
	}
	return out
}

// afterEscape is the state behind ESC and c.
func afterEscape(c byte) state {
	switch {
	case c == '[':
		return csi
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		return str
	case c == 0x1b || c >= 0x20 && c <= 0x2f:
		return escape
	default:
		return ground
	}
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
		p.state = afterEscape(c - 0x40)
		return out
	}
	if p.cr {
		out = append(out, '\n')
		p.cr = false
	}
	if p.c2 {
		out = append(out, 0xc2)
	}
	p.begun = c != '\n'
	if p.c2 = c == 0xc2; p.c2 {
		return out
	}
	return append(out, c)
}
