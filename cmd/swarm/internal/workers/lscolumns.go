package workers

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
)

type lsRow struct {
	worker.Worker
	condition.Condition
	// figures are what the worker uses, if a column shows that.
	figures stats.Figures
	// changes are the changes of its worktree, if a column shows them; nil: not known.
	changes *compare.Changes
	// glance says that changes were not asked for: a worktree without any has an empty cell.
	glance bool
	now    time.Time
	// plain asks for ASCII symbols, terminal says that people read it.
	plain, terminal bool
}

type lsColumn struct {
	output.Column
	name string
	cell func(r lsRow) output.Cell
	// measured says that the column shows figures.
	measured bool
	// optional leaves the column out of the table if it is empty, unless it was asked for
	// by name.
	optional bool
}

func normal(text func(r lsRow) string) func(lsRow) output.Cell {
	return func(r lsRow) output.Cell { return output.Text(text(r), output.Normal) }
}

func column(header string, least int) output.Column {
	return output.Column{Header: header, Least: least}
}

func rightColumn(header string) output.Column { return output.Column{Header: header, Right: true} }

// allColumns returns all columns, in the order in which --wide shows them.
func allColumns() []lsColumn {
	return []lsColumn{
		{name: "name", Column: column("NAME", 12), cell: normal(func(r lsRow) string { return r.Name })},
		{name: "state", Column: column("STATE", 0), cell: stateCell},
		{name: "cpu", Column: rightColumn("CPU"), measured: true, cell: normal(func(r lsRow) string { return stats.Share(r.figures.CPU) })},
		{name: "mem", Column: rightColumn("MEM"), measured: true, cell: normal(func(r lsRow) string { return stats.Size(memoryOf(r)) })},
		{name: "started", Column: column("STARTED", 0), cell: normal(func(r lsRow) string { return startedAgo(r.Worker, r.now) })},
		{name: "restarts", Column: rightColumn("RESTARTS"), optional: true, cell: normal(func(r lsRow) string {
			if r.Restarts == 0 {
				return ""
			}
			return strconv.Itoa(r.Restarts)
		})},
		{name: "pid", Column: rightColumn("PID"), cell: normal(func(r lsRow) string {
			if r.Gone() || r.PID == 0 {
				return "" // another process may have it by now
			}
			return strconv.Itoa(r.PID)
		})},
		{name: "backend", Column: output.Column{Header: "BACKEND", Least: 8, Spare: true}, cell: normal(backendOrWindow)},
		{name: "worktree", Column: column("WORKTREE", 8), optional: true, cell: normal(branchOrPath)},
		{name: "changes", Column: column("CHANGES", 0), optional: true, cell: changesCell},
		{name: "team", Column: column("TEAM", 6), optional: true, cell: normal(func(r lsRow) string { return r.Team })},
		{name: "tags", Column: column("TAGS", 4), optional: true, cell: normal(func(r lsRow) string { return strings.Join(r.Tags, ",") })},
		{name: "id", Column: column("ID", 0), cell: normal(func(r lsRow) string { return r.ID })},
		{name: "directory", Column: column("DIRECTORY", 12), cell: normal(func(r lsRow) string { return r.Dir })},
		{name: "command", Column: column("COMMAND", 8), cell: normal(func(r lsRow) string { return r.CommandLine() })},
	}
}

var lsDefault = []string{"name", "state", "backend", "worktree", "changes", "tags", "command"}

func columnNames() []string {
	return output.List(allColumns(), func(c lsColumn) string { return c.name })
}

// parseColumns reads "name,state".
func parseColumns(s string) (columns []lsColumn, err error) {
	for name := range strings.SplitSeq(s, ",") {
		all := allColumns()
		i := slices.IndexFunc(all, func(c lsColumn) bool { return c.name == name })
		if i < 0 {
			return nil, errors.New("expected some of " + strings.Join(columnNames(), ","))
		}
		c := all[i]
		c.optional = false
		columns = append(columns, c)
	}
	return columns, nil
}

func lsTable(rows []lsRow, columns []lsColumn) output.Table {
	t := output.Table{Rows: make([][]output.Cell, len(rows))}
	filled := func(cell output.Cell) bool { return cell.String() != "" }
	for _, c := range columns {
		cells := output.List(rows, c.cell)
		if c.optional && !slices.ContainsFunc(cells, filled) {
			continue
		}
		t.Columns = append(t.Columns, c.Column)
		for i, cell := range cells {
			if !filled(cell) {
				cell = output.Text("-", output.Faint)
			}
			t.Rows[i] = append(t.Rows[i], cell)
		}
	}
	return t
}

// stateCell is a symbol, a word and since when, and on a terminal how often the worker was
// restarted: for programs there is a column of its own.
func stateCell(r lsRow) output.Cell {
	cell := output.Cell{
		{Text: r.Kind.Symbol(r.plain) + " " + r.Text, Style: output.StyleOf(r.Kind.Tone())},
		{Text: strings.TrimPrefix(r.Words(r.now), r.Text), Style: output.Faint},
	}
	if mark := r.RestartMark(r.plain); mark != "" && r.terminal {
		cell = append(cell, output.Span{Text: " " + mark, Style: output.StyleOf(condition.Waiting)})
	}
	return cell
}

// backendOrWindow names the place of a worker that runs, and else what ran it.
func backendOrWindow(r lsRow) string {
	if r.Where.Name != "" && !r.Gone() {
		return r.Where.Name
	}
	return r.Backend
}

func branchOrPath(r lsRow) string {
	if r.Workspace == nil {
		return ""
	}
	return cmp.Or(r.Workspace.Branch, r.Workspace.Location())
}

// changesCell is "+12 −3 ↑2 ↓1", or "?" where the worktree could not be compared in time.
func changesCell(r lsRow) output.Cell {
	switch {
	case r.Workspace == nil:
		return nil
	case r.changes == nil:
		return output.Text("?", output.Faint)
	}
	var cell output.Cell
	add := func(text string, style output.Style) {
		if cell != nil {
			cell = append(cell, output.Span{Text: " "})
		}
		cell = append(cell, output.Span{Text: text, Style: style})
	}
	if r.changes.Files > 0 {
		added, removed, _ := strings.Cut(view.LinesText(*r.changes, r.plain), " ")
		add(added, output.Green)
		add(removed, output.Red)
	}
	for word := range strings.FieldsSeq(view.DistanceText(*r.changes, r.plain)) {
		add(word, output.Faint)
	}
	if cell == nil && !r.glance {
		return output.Text("none", output.Faint)
	}
	return cell
}

func startedAgo(w worker.Worker, now time.Time) string {
	if w.Started.IsZero() || w.BetweenStarts() {
		return ""
	}
	return humane.Age(now.Sub(w.Started)) + " ago"
}

// more orders the larger figure first, and a missing one last.
func more[N int64 | float64](a, b *N) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	default:
		return cmp.Compare(*b, *a)
	}
}

func memoryOf(r lsRow) *int64 {
	if r.figures.Stats == nil {
		return nil
	}
	return r.figures.Stats.Memory
}

func orders() map[string]func(a, b lsRow) int {
	return map[string]func(a, b lsRow) int{
		"name":    func(a, b lsRow) int { return strings.Compare(a.Name, b.Name) },
		"state":   func(a, b lsRow) int { return condition.Compare(a.Condition, b.Condition) },
		"cpu":     func(a, b lsRow) int { return more(a.figures.CPU, b.figures.CPU) },
		"mem":     func(a, b lsRow) int { return more(memoryOf(a), memoryOf(b)) },
		"started": func(a, b lsRow) int { return b.Started.Compare(a.Started) },
	}
}
