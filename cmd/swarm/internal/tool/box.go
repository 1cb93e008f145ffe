package tool

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/tool"
)

// The boxes in which background shells are shown to people.

const (
	// pipeWidth is the width of a table that does not go to a terminal.
	pipeWidth = 100
	// columnGap is between the columns of a table.
	columnGap = 3
	// boxWidth is the inner width of a box, unless its lines need more.
	boxWidth = 51
)

const noTasks = "No active background tasks.\n"

// tasksTable shows background shells in a frame that is at most width wide; 0 means that
// the output is not a terminal. It says so if there are no shells.
func tasksTable(title string, tasks []shell.Shell, now time.Time, width int) string {
	if len(tasks) == 0 {
		return noTasks
	}
	width = cmp.Or(width, pipeWidth)
	rows := [][]string{{"ID", "Command", "Started", "Status"}}
	for _, t := range tasks {
		started := startedText(now.Sub(t.StartedAt.Time))
		rows = append(rows, []string{output.Visible(t.ID), output.Visible(t.Command), started, output.Visible(string(t.Status))})
	}
	widths := []int{9, 18, 11, 11}
	inner := 2 + columnGap*(len(widths)-1)
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], output.Columns(row[i]))
		}
		inner += widths[i]
	}
	// The commands are what can be cut.
	const command, least = 1, 7
	tooMuch := min(max(inner+2-width, 0), widths[command]-least)
	widths[command], inner = widths[command]-tooMuch, inner-tooMuch

	var b strings.Builder
	frame := func(left, right string) { b.WriteString(left + strings.Repeat("─", inner) + right + "\n") }
	line := func(row []string) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = output.Padded(output.Cut(cell, widths[i]), widths[i])
		}
		b.WriteString("│ " + strings.Join(cells, strings.Repeat(" ", columnGap)) + " │\n")
	}
	b.WriteString(title + "\n")
	frame("┌", "┐")
	line(rows[0])
	frame("├", "┤")
	for _, row := range rows[1:] {
		line(row)
	}
	frame("└", "┘")
	b.WriteString("\nUse KillShell tool with shell_id to terminate a task.\n")
	return b.String()
}

// startedText returns the time since a start, such as "5 min ago".
func startedText(age time.Duration) string {
	count := func(n int, unit string) string {
		if n != 1 {
			unit += "s"
		}
		return fmt.Sprintf("%d %s ago", n, unit)
	}
	switch age = max(age, 0); {
	case age < time.Minute:
		return fmt.Sprintf("%d sec ago", int(age.Seconds()))
	case age < time.Hour:
		return fmt.Sprintf("%d min ago", int(age.Minutes()))
	case age < 48*time.Hour:
		return count(int(age.Hours()), "hour")
	default:
		return count(int(age.Hours())/24, "day")
	}
}

func terminatedBox(k tool.KillShellOutput, width int) string {
	status := "Terminated gracefully"
	if k.SignalSent == "SIGKILL" {
		status = "Killed"
	}
	return box("Process Terminated", width,
		"Shell ID: "+k.ShellID, "Command: "+k.Command, "Signal: "+k.SignalSent, "Status: "+status)
}

func forceKilledBox(k tool.KillShellOutput, width int) string {
	return box("Process Force Killed", width,
		"Shell ID: "+k.ShellID,
		"Signal: "+k.SignalSent+" → SIGKILL",
		"Status: Force killed after "+config.FormatDuration(k.Timeout)+" timeout",
		"Note: Process did not respond to "+k.SignalSent)
}

func shellNotFoundText(id string) string {
	return "Error: Shell not found: " + output.Visible(id) + "\nUse /tasks to see available background shells.\n"
}

func box(title string, width int, lines ...string) string {
	width = cmp.Or(width, pipeWidth)
	widest := 0
	for i, line := range lines {
		lines[i] = output.Visible(line)
		widest = max(widest, output.Columns(lines[i]))
	}
	inner := max(min(max(boxWidth, widest+2), width-2), len(title)+4)
	var b strings.Builder
	fmt.Fprintf(&b, "┌─ %s %s┐\n", title, strings.Repeat("─", inner-len(title)-3))
	for _, line := range lines {
		fmt.Fprintf(&b, "│ %s │\n", output.Padded(output.Cut(line, inner-2), inner-2))
	}
	fmt.Fprintf(&b, "└%s┘\n", strings.Repeat("─", inner))
	return b.String()
}
