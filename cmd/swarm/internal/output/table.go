package output

import (
	"strings"
)

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
	if header != nil {
		rows = append([][]string{header}, rows...)
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = Visible(row[i])
			widths[i] = max(widths[i], Columns(row[i]))
		}
	}
	lines := make([]string, len(rows))
	for at, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(Padded(cell, widths[i]+2))
		}
		lines[at] = strings.TrimRight(line.String(), " ")
	}
	return lines
}
