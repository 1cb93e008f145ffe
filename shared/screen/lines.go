package screen

import (
	"bytes"
	"regexp"
	"time"
)

// maxJoined is how much of one line is put together: what is longer continues as another.
const maxJoined = 1 << 20

// Lines puts the pieces of lines that a [Screen] reports together again, and passes on
// those that match a pattern. Its Add is the Line of one screen.
type Lines struct {
	// Pattern is what a line has to match, see [Matches]; nil: all do.
	Pattern *regexp.Regexp
	// Line is called with each line. Only of a line that Settle passed on more comes in
	// further pieces.
	Line func(Line)

	held []byte
	at   time.Time
	// given says that what is held was passed on, and that the rest of its line follows.
	given bool
}

// Add takes a line, or a piece of one.
func (l *Lines) Add(piece Line) {
	if piece.Begins || len(l.held) > maxJoined {
		l.end(len(l.held) > 0)
	}
	if l.given {
		l.given = !piece.Ends
		l.Line(piece)
		return
	}
	if len(l.held) == 0 {
		l.at = piece.Time
	}
	l.held = append(l.held, piece.Text...)
	if piece.Ends {
		l.end(true)
	}
}

// Open returns the part of the line that is known and has no end yet.
func (l *Lines) Open() []byte { return l.held }

// Settle passes on the line that has no end yet, such as a question.
func (l *Lines) Settle() {
	if len(l.held) > 0 {
		l.give(false)
	}
}

// Close passes on the line that has no end, once nothing more comes.
func (l *Lines) Close() {
	l.Settle()
	l.held, l.given = nil, false
}

// end ends the line that is held, if there is one.
func (l *Lines) end(there bool) {
	if there && !l.given {
		l.give(true)
	}
	l.held, l.given = l.held[:0], false
}

func (l *Lines) give(ends bool) {
	if l.Pattern != nil && !Matches(l.Pattern, l.held) {
		return
	}
	l.Line(Line{Text: l.held, Time: l.at, Begins: true, Ends: ends})
	l.held, l.given = l.held[:0], !ends
}

// Matches reports whether the text of a line matches a pattern. Its newline and its
// colours are not part of the text.
func Matches(pattern *regexp.Regexp, line []byte) bool {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	if bytes.IndexByte(line, '\x1b') >= 0 {
		line = withoutColours(line)
	}
	return pattern.Match(line)
}

// withoutColours leaves out SGR sequences, which are the only ones in lines.
func withoutColours(line []byte) []byte {
	var out []byte
	for {
		before, rest, found := bytes.Cut(line, []byte{'\x1b'})
		out = append(out, before...)
		if !found {
			return out
		}
		_, line, _ = bytes.Cut(rest, []byte{'m'})
	}
}
