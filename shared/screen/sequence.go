package screen

import (
	"github.com/charmbracelet/x/ansi/parser"

	"github.com/swarmhost/swarm/shared/sgr"
)

// sequences distinguishes sequences from text. Its states are those of the parser of x/ansi,
// which takes them from the VT500 (https://vt100.net/emu/dec_ansi_parser); of that
// module only the table is used, since the rest of it needs milliseconds to start.
type sequences struct {
	state  parser.State
	prefix byte // of <=>?, or 0
	inter  byte // the last intermediate byte, or 0
	params sgr.Params
	// c2 says that 0xC2 came last in a string, which begins a C1 character.
	c2 bool
}

func (q *sequences) clear() {
	q.prefix, q.inter, q.params = 0, 0, q.params[:0]
}

// number returns the parameter at i, at least 1.
func (q *sequences) number(i int) int { return max(q.params.At(i), 1) }

// inString reports whether the bytes that come are a text for the terminal.
func (q *sequences) inString() bool {
	switch q.state {
	case parser.OscStringState, parser.DcsStringState, parser.SosStringState, parser.PmStringState, parser.ApcStringState:
		return true
	}
	return false
}

// sequence takes a byte that begins a sequence or belongs to one, and reports whether
// it did: else the sequence ends before it and the byte is text.
func (s *Screen) sequence(b byte) bool {
	q := &s.seq
	if b >= 0x80 {
		if q.state == parser.EscapeState || q.state == parser.EscapeIntermediateState {
			q.state = parser.GroundState
			return false
		}
		// The contents of strings are skipped, but for their end in UTF-8.
		if q.inString() && q.c2 && b == 0x9c {
			q.state = parser.GroundState
		}
		q.c2 = b == 0xc2
		return true
	}
	q.c2 = false
	from := q.state
	to, action := parser.Table.Transition(from, b)
	q.state = to
	if from == parser.EscapeState && to != from {
		q.clear()
	}
	switch action {
	case parser.ClearAction:
		q.clear()
	case parser.PrefixAction:
		q.prefix = b
	case parser.CollectAction:
		q.inter = b
	case parser.ParamAction:
		q.params.Add(b)
	case parser.ExecuteAction:
		s.control(b)
	case parser.DispatchAction:
		switch from {
		case parser.EscapeState, parser.EscapeIntermediateState:
			s.escape(b)
		case parser.CsiEntryState, parser.CsiParamState, parser.CsiIntermediateState:
			s.csi(b)
		}
	}
	return true
}

func (s *Screen) escape(final byte) {
	s.last = 0
	if s.budget.tired() {
		return
	}
	switch s.seq.inter {
	case 0:
	case '(', ')': // the first set, or the second
		s.graphics[s.seq.inter-'('] = final == '0'
		return
	default:
		return
	}
	switch final {
	case 'D':
		s.align()
		x := s.column()
		s.down()
		s.toColumn(x)
	case 'E':
		s.align()
		s.toColumn(0)
		s.down()
		s.toColumn(0)
	case 'M':
		s.up()
	case '7':
		s.save()
	case '8':
		s.restore()
	case 'c':
		s.restart()
	}
}

func (s *Screen) csi(final byte) {
	q := &s.seq
	if final != 'b' {
		defer func() { s.last = 0 }()
	}
	// Sequences that cost nothing are always obeyed.
	if final != 'm' && final != 'h' && final != 'l' && s.budget.tired() {
		return
	}
	switch {
	case q.inter == '!' && final == 'p':
		s.soft()
		return
	case q.inter != 0:
		return
	case q.prefix == '?':
		switch final {
		case 'h', 'l':
			for i := range q.params {
				s.private(q.params.At(i), final == 'h')
			}
		case 'J':
			s.eraseDisplay(q.params.At(0))
		case 'K':
			s.eraseLine(q.params.At(0))
		}
		return
	case q.prefix != 0:
		return
	}
	switch final {
	case 'm':
		if s.styled() {
			s.style.Change(q.params)
		}
	case 'h', 'l':
		switch q.params.At(0) {
		case 4:
			s.inserting = final == 'h'
		case 20:
			s.newline = final == 'h'
		}
	case 's':
		if len(q.params) == 0 {
			s.save()
		}
	case 'u':
		if len(q.params) == 0 {
			s.restore()
		}
	default:
		if !s.move(final) {
			s.edit(final)
		}
	}
}

// private does the private mode, such as 1049 for the alternate screen.
func (s *Screen) private(mode int, on bool) {
	switch mode {
	case 6:
		s.origin = on
		s.align()
		s.moveTo(s.row(0), 0)
	case 7:
		s.noWrap = !on
	case 47, 1047, 1049:
		if !s.budget.tired() {
			s.alternate(on, mode == 1049)
		}
	case 1048:
		if on {
			s.save()
		} else {
			s.restore()
		}
	}
	if s.Mode != nil {
		s.Mode(mode, on)
	}
}
