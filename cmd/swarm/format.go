package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// timestampFormat is how lines begin that tell when.
const timestampFormat = "2006-01-02T15:04:05.000Z07:00 "

// formatAge is a duration in its largest unit, as people say it.
func formatAge(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
}

// processList names processes for people.
func processList(ps []swarm.Process) string {
	names := make([]string, len(ps))
	for i, p := range ps {
		if names[i] = orText(p.Name, "process"); p.PID != 0 { // which is not told of other machines
			names[i] = fmt.Sprintf("%s (pid %d)", names[i], p.PID)
		}
	}
	return strings.Join(names, " ")
}

// printTable aligns the columns of rows below header, two spaces apart, without
// blanks at the ends of lines. Without rows it prints nothing; header may be nil.
// Cells are made visible.
func (p *printer) printTable(header []string, rows [][]string) {
	for _, line := range tableLines(header, rows) {
		p.printf("%s\n", line)
	}
}

func tableLines(header []string, rows [][]string) []string {
	if len(rows) == 0 {
		return nil
	}
	if header != nil {
		rows = append([][]string{header}, rows...)
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = visible(row[i])
			widths[i] = max(widths[i], columns(row[i]))
		}
	}
	lines := make([]string, len(rows))
	for at, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(padded(cell, widths[i]+2))
		}
		lines[at] = strings.TrimRight(line.String(), " ")
	}
	return lines
}

// visible is text that others wrote, on one line and harmless to a terminal.
func visible(text string) string { return safetext.Line(text) }
