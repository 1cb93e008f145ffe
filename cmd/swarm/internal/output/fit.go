package output

import (
	"fmt"
	"slices"
	"strings"
)

// Span is a piece of a cell.
type Span struct {
	Text  string
	Style Style
}

// Cell is the content of one row in one column.
type Cell []Span

// Text makes a cell of one piece.
func Text(text string, style Style) Cell { return Cell{{Text: text, Style: style}} }

// Texts makes a row of cells without a style.
func Texts(row []string) []Cell {
	return List(row, func(text string) Cell { return Text(text, Normal) })
}

func (c Cell) String() string {
	var b strings.Builder
	for _, s := range c {
		b.WriteString(s.Text)
	}
	return b.String()
}

type Column struct {
	Header string
	// Least is the width that it keeps when the table has to shrink; 0: it is never cut.
	Least int
	// Spare says that it is left out if the table does not fit otherwise.
	Spare bool
	// Right aligns it to the right.
	Right bool
}

// Table is rows of cells below a header.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	// Width is how wide a line may be; 0: as wide as it gets.
	Width int
	// NoHeader leaves the header out.
	NoHeader bool
	// Colours says whether styles are used. Plain says that the terminal shows ASCII alone.
	Colours, Plain bool
}

const tableGap = 2

// PrintFitted prints a table. Without rows it prints nothing.
func (p *Printer) PrintFitted(t Table) {
	for _, line := range t.Lines() {
		fmt.Fprintf(p.Out, "%s\n", line)
	}
}

// Lines returns the lines of the table, without newlines; none without rows.
func (t Table) Lines() []string {
	if len(t.Rows) == 0 {
		return nil
	}
	var rows [][]Cell
	if !t.NoHeader {
		header := make([]Cell, len(t.Columns))
		for i, c := range t.Columns {
			header[i] = Text(c.Header, Faint)
		}
		rows = append(rows, header)
	}
	rows = append(rows, t.Rows...)
	widths := t.widths(rows)
	lines := make([]string, len(rows))
	for at, row := range rows {
		var line strings.Builder
		left, blanks := t.Width, 0
		for i, cell := range row {
			// Cells that do not fit even now are cut off: a line that wraps is worse.
			width := widths[i]
			if width == 0 {
				continue
			}
			if t.Width > 0 {
				width = min(width, left-blanks)
			}
			if width <= 0 {
				break
			}
			text, columns := t.painted(cell, width)
			if columns > 0 {
				if t.Columns[i].Right {
					blanks, width = blanks+width-columns, columns
				}
				line.WriteString(strings.Repeat(" ", blanks) + text)
				left -= blanks + columns
				blanks, width = 0, width-columns
			}
			blanks += width + tableGap
		}
		lines[at] = line.String()
	}
	return lines
}

func (t Table) widths(rows [][]Cell) []int {
	widths := make([]int, len(t.Columns))
	for _, row := range rows {
		for i, cell := range row {
			for j := range cell {
				cell[j].Text = Visible(cell[j].Text)
			}
			widths[i] = max(widths[i], Columns(cell.String()))
		}
	}
	if t.Width == 0 {
		return widths
	}
	over := tableGap*(len(widths)-1) - t.Width
	for _, w := range widths {
		over += w
	}
	// The widest column gives first, of several the last one.
	for ; over > 0; over-- {
		widest := -1
		for i, c := range t.Columns {
			if c.Least > 0 && widths[i] > max(c.Least, Columns(c.Header)) && (widest < 0 || widths[i] >= widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			spare := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Spare })
			if spare < 0 {
				break
			}
			return t.without(spare, rows)
		}
		widths[widest]--
	}
	return widths
}

// without returns the widths if a column is left out, which has the width 0 then.
func (t Table) without(column int, rows [][]Cell) []int {
	t.Columns = slices.Delete(slices.Clone(t.Columns), column, column+1)
	rest := make([][]Cell, len(rows))
	for i, row := range rows {
		rest[i] = slices.Delete(slices.Clone(row), column, column+1)
	}
	return slices.Insert(t.widths(rest), column, 0)
}

// painted returns a cell in at most so many columns, and how many those are.
func (t Table) painted(cell Cell, width int) (text string, columns int) {
	if Columns(cell.String()) > width {
		cell = t.cut(cell, width)
	}
	var b strings.Builder
	for _, s := range cell {
		columns += Columns(s.Text)
		if t.Colours {
			s.Text = s.Style.Paint(s.Text)
		}
		b.WriteString(s.Text)
	}
	return b.String(), columns
}

// Cut is [Shorten] for text that has other characters beyond ASCII anyway.
func Cut(text string, columns int) string { return Shorten(text, columns, false) }

// cutMark stands at the end of a text that was cut; plain is for terminals without Unicode.
func cutMark(plain bool) string {
	if plain {
		return "~"
	}
	return "…"
}

// Shorten cuts a text to so many columns.
func Shorten(text string, columns int, plain bool) string {
	if Columns(text) <= columns {
		return text
	}
	return Head(text, columns-1) + cutMark(plain)
}

func (t Table) cut(cell Cell, width int) Cell {
	cell = slices.Clone(cell)
	left := width - 1
	for i := range cell {
		n := Columns(cell[i].Text)
		if n <= left && i < len(cell)-1 {
			left -= n
			continue
		}
		cell[i].Text = strings.TrimRight(Head(cell[i].Text, left), " ") + cutMark(t.Plain)
		return cell[:i+1]
	}
	return cell
}

// Head returns the beginning of a text that fits into so many columns.
func Head(text string, columns int) string {
	for i, r := range text {
		if columns -= columnsOf(r); columns < 0 {
			return text[:i]
		}
	}
	return text
}
