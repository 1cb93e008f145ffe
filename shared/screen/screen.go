package screen

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi/parser"

	"github.com/swarmhost/swarm/shared/sgr"
)

const (
	// DefaultRows is how many rows a screen has whose size is not known: those of a
	// tmux window without an attached client.
	DefaultRows = 24
	// maxRows and maxColumns bound a screen, whatever the program or the terminal says.
	maxRows, maxColumns = 300, 1000
	// farthest is how far to the right a cursor can be moved if the width is not known.
	farthest = 512
)

// Screen makes lines of what a program writes to a terminal, see the package. Its zero
// value is ready, of unknown size. Its memory is bounded, whatever is written. So is
// the text that it reports, and the time that it takes: to a multiple of what is written. It
// is not for concurrent use.
type Screen struct {
	// Line is called for each line, or piece of one, that is finished, unless it is nil.
	Line func(Line)
	// Live reports lines early, for a reader that follows the output.
	Live bool
	// Colours keeps how letters look. Each piece of text that is reported has in it the
	// SGR sequences that make its letters look so, and no others, and ends with a reset.
	Colours bool
	// Styles keeps how letters look for [Screen.ShownStyled] alone: what is reported is
	// plain text.
	Styles bool
	// Mode is called for each private mode that the program turns on or off, such as 2004
	// for bracketed paste, unless it is nil.
	Mode func(mode int, on bool)

	seq    sequences
	budget budget
	// half is the beginning of a letter whose rest comes with the next piece.
	half []byte
	now  time.Time
	// buf is for text that is reported.
	buf []byte

	// columns and rows are the size, 0: unknown. sized says that Resize has set it.
	columns, rows int
	sized         bool
	main, other   grid
	// alt says that the program shows the alternate screen, other.
	alt   bool
	style sgr.Style
	// top and bottom are the scroll region, if there is one.
	region      bool
	top, bottom int
	// cr says that a carriage return came last. Before a line feed it moves nothing.
	cr bool
	// loose says that a row of text may be longer than the screen is wide.
	loose bool
	// last is the letter that came last, 0 if it was something else.
	last rune
	// The modes of the terminal. graphics are the two sets of letters that may be the
	// line drawing ones, shift is the one in use.
	origin, noWrap, inserting, newline bool
	graphics                           [2]bool
	shift                              int

	// returned says that a newline came as CR LF, moved that the cursor was moved to
	// other rows: what only programs on terminals do.
	returned, moved bool
	// reach is by how many rows the program moved the cursor up, and forward how many
	// lines it has written since.
	reach, forward int
}

// Line is a line of text, or a piece of one.
type Line struct {
	// Text is valid until Line returns.
	Text []byte
	// Time is when its beginning was written.
	Time time.Time
	// Begins says that a line begins with it; else it continues with the one before.
	Begins bool
	// Ends says that the line ends with it.
	Ends bool
}

type grid struct {
	// rows are those down to the lowest one that was used.
	rows []*row
	// y and x are where the cursor is. x may be atEnd.
	y, x int
	// past says that the cursor stands behind the last column: the next letter wraps.
	past bool
	// first is the first row that has something to report.
	first int
	// fresh says that nothing was shown since the screen was empty.
	fresh bool
	saved saved
}

// atEnd is the column behind the text of a row that is no cells.
const atEnd = -1

// lastOfText stands for the last letter of the text of the row.
const lastOfText = -1

type saved struct {
	y, x  int
	style sgr.Style
}

// Text returns what data reads on a screen of unknown size, lines with newlines
// between them.
func Text(data []byte) []byte {
	var out []byte
	s := Screen{Line: func(l Line) {
		out = append(out, l.Text...)
		if l.Ends {
			out = append(out, '\n')
		}
	}}
	s.Write(data, time.Time{})
	s.Close()
	return out
}

// Write processes data that was written at the time now.
func (s *Screen) Write(data []byte, now time.Time) {
	s.now = now
	if len(s.half) > 0 {
		data = append(s.half, data...)
		s.half = nil
	}
	for len(data) > 0 {
		if s.seq.state != parser.GroundState {
			switch b := data[0]; {
			case b == '\n':
				// A sequence never goes over the end of a line: one that never ends hides
				// nothing else.
				s.seq.state = parser.GroundState
			case s.sequence(b):
				data = data[1:]
				s.budget.written++
			}
			continue
		}
		n, whole := printable(data)
		if n > 0 {
			s.budget.printing = true
			s.print(data[:n])
			s.budget.printing = false
			data = data[n:]
			s.budget.written += int64(n)
		}
		if len(data) == 0 {
			return
		}
		switch b := data[0]; {
		case !whole:
			s.half = append([]byte(nil), data...)
			return
		case b == 0x1b:
			s.sequence(b)
			data = data[1:]
			s.budget.written++
		case b == 0xc2:
			// A C1 character is ESC and a letter.
			s.sequence(0x1b)
			s.sequence(data[1] - 0x40)
			data = data[2:]
			s.budget.written += 2
		default:
			s.control(b)
			data = data[1:]
			s.budget.written++
		}
	}
}

// printable returns how much data has before the first control character. whole is
// false if what follows is the beginning of a letter.
func printable(data []byte) (n int, whole bool) {
	for n < len(data) {
		b := data[n]
		switch {
		case b >= 0x20 && b < 0x7f || b == '\t':
			n++
			continue
		case b < 0x80:
			return n, true
		}
		c, size := utf8.DecodeRune(data[n:])
		switch {
		case c == utf8.RuneError && size == 1 && !utf8.FullRune(data[n:]):
			return n, false
		case size == 2 && c <= 0x9f:
			return n, true
		}
		n += size
	}
	return n, true
}

func (s *Screen) control(b byte) {
	s.last = 0
	switch b {
	case '\r':
		s.cr = true
	case '\n', '\v', '\f':
		s.lineFeed()
	case '\b':
		s.align()
		if x := s.column(); x > 0 {
			s.toColumn(x - 1)
		}
	case '\t':
		s.print([]byte{b}) // within a sequence
	case 0x0e, 0x0f:
		s.shift = int(0x0f - b)
	}
}

func (s *Screen) lineFeed() {
	g := s.grid()
	s.returned = s.returned || s.cr
	g.rows[g.y].fed = true
	if s.forward++; s.forward >= s.height() {
		s.reach = 0
	}
	// A program that has its terminal in raw mode goes straight down.
	if straight := !s.cr && !s.newline && (s.sized || s.returned && s.moved); straight {
		s.align()
		x := s.column()
		s.down()
		s.toColumn(x)
	} else {
		s.cr = false
		s.down()
		s.toColumn(0)
	}
	s.advance()
}

// Resize sets the size of the terminal from now on. It ignores sizes that are not positive.
func (s *Screen) Resize(columns, rows int) {
	if columns <= 0 || rows <= 0 {
		return
	}
	s.align()
	s.columns, s.rows, s.sized = min(columns, maxColumns), min(rows, maxRows), true
	for _, g := range []*grid{&s.main, &s.other} {
		s.region = false
		for len(g.rows) > s.rows {
			if n := len(g.rows) - 1; n > g.y && g.rows[n].empty() {
				g.rows = g.rows[:n]
				continue
			}
			s.dropTop(g)
		}
		g.x, g.past = min(g.x, s.columns-1), false
	}
}

// Close reports the remaining lines on the screen, the last one without a line end if
// it has none, and resets the screen.
func (s *Screen) Close() {
	if len(s.half) > 0 {
		s.print(s.half)
	}
	s.reportAll(true)
	s.budget.said = false // a reader of the end alone needs the report, too
	s.reportMissing(s.now)
	*s = Screen{Line: s.Line, Live: s.Live, Colours: s.Colours, Styles: s.Styles, Mode: s.Mode}
}

// Settle reports everything on the screen that has not been reported, as if it were
// finished. It is for a reader that follows the output, when nothing has arrived for a
// while. The last line stays open and may continue.
func (s *Screen) Settle() { s.reportAll(true) }

// Shown returns the lines that are on the screen now, without empty ones at the end.
func (s *Screen) Shown() []string { return lines(s.grid().rows, s.Colours) }

// ShownStyled returns the lines of [Screen.Shown] with the SGR sequences that make their
// letters look as they do, each for itself. It needs Styles or Colours.
func (s *Screen) ShownStyled() []string { return lines(s.grid().rows, s.styled()) }

func (s *Screen) styled() bool { return s.Colours || s.Styles }

// Open returns the lines on the screen that were not reported, or changed since.
func (s *Screen) Open() []string {
	g := s.grid()
	rows := g.rows[min(g.first, len(g.rows)):]
	return lines(slices.DeleteFunc(slices.Clone(rows), (*row).done), s.Colours)
}

func lines(rows []*row, colours bool) []string {
	for len(rows) > 0 && rows[len(rows)-1].empty() {
		rows = rows[:len(rows)-1]
	}
	var out []string
	var text []byte
	for _, r := range rows {
		text = r.render(text, 0, colours)
		if !r.wrapped {
			out = append(out, string(text))
			text = text[:0]
		}
	}
	if len(text) > 0 {
		out = append(out, string(text))
	}
	return out
}
