package top

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/swarmhost/swarm/shared/safetext"
)

const (
	// maxColours is how many bytes of colours are in force at once, and maxMarks how many
	// bytes one letter may have with its accents. Nothing that a person reads needs more.
	maxColours, maxMarks = 64, 32
	reset                = "\x1b[m"
)

type cell struct {
	text  string
	width int
}

// next cuts the first letter or sequence off a line. Sequences other than colours, and
// control characters, have no text. A letter whose width is disputed is as wide as the
// widest answer, so that a row is never too long.
func next(line string) (c cell, colour string, rest string) {
	if b := line[0]; b >= ' ' && b < 0x7f && (len(line) == 1 || line[1] < utf8.RuneSelf) {
		return cell{line[:1], 1}, "", line[1:]
	}
	seq, width, n, _ := ansi.DecodeSequence(line, ansi.NormalState, nil)
	if n == 0 {
		return cell{}, "", line[1:]
	}
	rest = line[n:]
	if isColour(seq) {
		return cell{}, seq, rest
	}
	if seq == "" || seq[0] < ' ' || seq[0] == 0x7f || !utf8.ValidString(seq) || len(seq) > maxMarks {
		return cell{}, "", rest
	}
	for _, r := range seq {
		if safetext.IsHidden(r) {
			return cell{}, "", rest
		}
	}
	return cell{seq, max(width, ansi.StringWidthWc(seq))}, "", rest
}

// isColour reports whether a sequence does nothing but choose how letters look.
func isColour(seq string) bool {
	if len(seq) < 3 || len(seq) > maxColours || seq[0] != '\x1b' || seq[1] != '[' || seq[len(seq)-1] != 'm' {
		return false
	}
	for _, b := range seq[2 : len(seq)-1] {
		if b != ';' && b != ':' && (b < '0' || b > '9') {
			return false
		}
	}
	return true
}

// rowsOf returns a line as rows of at most width cells; at most limit rows, 0: all. Each row
// begins and ends without colours of its neighbours.
func rowsOf(line string, width, limit int) []string {
	if width <= 0 {
		return nil
	}
	if len(line) <= width && isPlain(line) {
		return []string{line}
	}
	var rows []string
	var row strings.Builder
	colours, at := "", 0
	end := func() {
		if colours != "" {
			row.WriteString(reset)
		}
		rows = append(rows, row.String())
		row.Reset()
		row.WriteString(colours)
		at = 0
	}
	for line != "" {
		c, colour, rest := next(line)
		line = rest
		switch {
		case colour == reset || colour == "\x1b[0m":
			if colours != "" {
				row.WriteString(reset)
			}
			colours = ""
			continue
		case colour != "":
			if len(colours)+len(colour) > maxColours {
				colours = ""
			}
			colours += colour
			row.WriteString(colour)
			continue
		case c.width > width:
			c = cell{"?", 1}
		}
		if at+c.width > width {
			end()
			if limit > 0 && len(rows) == limit {
				return rows
			}
		}
		row.WriteString(c.text)
		at += c.width
	}
	if at > 0 || len(rows) == 0 {
		end()
	}
	return rows
}

// wrapped returns a text without colours as rows of at most width cells, which begin at words
// where that is possible, and in long paths at slashes; at most limit rows, 0: all.
func wrapped(text string, width, limit int) []string {
	if width <= 0 {
		return nil
	}
	var rows []string
	row := ""
	for i, word := range strings.Split(text, " ") {
		if limit > 0 && len(rows) >= limit {
			return rows[:limit]
		}
		longer := row + " " + word
		if i == 0 {
			longer = word
		}
		if widthOf(longer) <= width {
			row = longer
			continue
		}
		if strings.TrimSpace(row) != "" {
			rows = append(rows, row)
		}
		for isPlain(word) && len(word) > width {
			slash := strings.LastIndexByte(word[:width], '/')
			if slash <= 0 {
				break
			}
			rows = append(rows, word[:slash+1])
			word = word[slash+1:]
		}
		pieces := rowsOf(word, width, 0)
		if len(pieces) == 0 {
			return rows
		}
		rows = append(rows, pieces[:len(pieces)-1]...)
		row = pieces[len(pieces)-1]
	}
	rows = append(rows, row)
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	return rows
}

// isPlain reports whether a text is printable ASCII alone.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// widthOf returns how many cells a text takes.
func widthOf(s string) int {
	if isPlain(s) {
		return len(s)
	}
	n := 0
	for s != "" {
		var c cell
		c, _, s = next(s)
		n += c.width
	}
	return n
}

// fit returns a text in exactly width cells: cut, with a mark, or filled up with spaces.
func (t theme) fit(s string, width int) string {
	s = t.cut(s, width)
	return s + strings.Repeat(" ", max(0, width-widthOf(s)))
}

// cut returns a text in at most width cells, with a mark if it was longer.
func (t theme) cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	rows := rowsOf(s, width, 2)
	if len(rows) == 1 {
		return rows[0]
	}
	more := t.symbol("…", "~")
	if width == 1 {
		return more
	}
	return rowsOf(s, width-1, 1)[0] + more
}

// right returns a short text in width cells, at their right end.
func (t theme) right(s string, width int) string {
	if n := width - widthOf(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return t.fit(s, width)
}
