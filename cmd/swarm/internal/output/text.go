package output

import (
	"cmp"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/swarmhost/swarm/shared/safetext"
)

// Columns returns the number of terminal columns of a visible text.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	switch {
	case r < unicode.MaxLatin1:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0 // it joins the character before
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// Padded fills a text up with blanks.
func Padded(text string, to int) string {
	return text + strings.Repeat(" ", max(to-Columns(text), 0))
}

// Visible is text that others wrote, on one line and harmless to a terminal.
func Visible(text string) string { return safetext.Line(text) }

// Indented is a text that others wrote, of one or more lines, below another line.
func Indented(text string) Made {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("  "+Visible(strings.TrimRight(line, "\r\n")), " ") + "\n")
	}
	return Made(b.String())
}

func OrDash(s string) string { return cmp.Or(s, "-") }

// TimestampFormat is the format of the time at the beginning of a line.
const TimestampFormat = "2006-01-02T15:04:05.000Z07:00 "

// PrintTable aligns the columns of rows below header, two spaces apart, without
// blanks at the ends of lines. Without rows it prints nothing; header may be nil.
// Cells are made visible.
func (p *Printer) PrintTable(header []string, rows [][]string) {
	for _, line := range TableLines(header, rows) {
		p.Printf("%s\n", line)
	}
}

func TableLines(header []string, rows [][]string) []string {
	if len(rows) == 0 {
		return nil
	}
	t := Table{Columns: make([]Column, len(rows[0])), Rows: List(rows, Texts), NoHeader: header == nil}
	for i, text := range header {
		t.Columns[i].Header = text
	}
	return List(t.Lines(), func(line string) string { return strings.TrimRight(line, " ") })
}
