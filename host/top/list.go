package top

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
)

func (m *model) listRows(height int) []string {
	shown := m.shown()
	c := m.columns()
	rows := make([]string, 0, height)
	for n, r := range shown[:min(len(shown), height)] {
		at := m.offset + n
		switch {
		case r.Item == nil:
			rows = append(rows, m.fit(m.groupRow(r, at == m.at), m.frame.left))
		case m.view.Asking:
			rows = append(rows, m.fit(m.questionRow(*r.Item, at == m.at), m.frame.left))
		default:
			rows = append(rows, m.fit(m.itemRow(*r.Item, at == m.at, c), m.frame.left))
		}
	}
	if len(m.rows) == 0 {
		rows = m.emptyRows()
	}
	for len(rows) < height {
		rows = append(rows, strings.Repeat(" ", m.frame.left))
	}
	return rows[:height]
}

// emptyRows says why there is no worker, and what to do.
func (m *model) emptyRows() []string {
	texts := []string{"", "  No workers yet.", "", "  Start one in another terminal:", "", "    swarm spawn --name NAME -- COMMAND"}
	switch {
	case !m.board.Read:
		texts = []string{"", "  …"}
		if m.plain {
			texts[1] = "  ..."
		}
	case m.view.Filter != "":
		texts = []string{"", "  No worker matches the filter.", "", "  esc shows all."}
	}
	rows := make([]string, len(texts))
	for i, text := range texts {
		rows[i] = m.fit(text, m.frame.left)
	}
	return rows
}

func (m *model) groupRow(r dash.Row, selected bool) string {
	fold := m.symbol("▾", "v")
	if r.Folded {
		fold = m.symbol("▸", ">")
	}
	name := safetext.Line(r.Group)
	if name == "" {
		name = "no " + string(m.view.Group)
	}
	text := fold + " " + bold.paint(name) + " " + faint.paint(strconv.Itoa(r.Count))
	if r.Worst < dash.Running {
		text += "  " + m.urgent(r.Worst, r.Worst.String())
	}
	return m.cursorOf(selected) + text
}

func (m *model) cursorOf(selected bool) string {
	if selected {
		return strong.paint(m.symbol("▌", ">"))
	}
	return " "
}

// leastCPU and leastMemory are the least tops of sparklines.
const leastCPU, leastMemory = 0.05, 1 << 20

func lastFigures(i dash.Item) (cpu, memory string) {
	if len(i.Figures) == 0 {
		return "", ""
	}
	f := i.Figures[len(i.Figures)-1]
	if f.CPU >= 0 {
		cpu = strconv.Itoa(int(f.CPU*100+0.5)) + "%"
	}
	if f.Memory >= 0 {
		memory = humane.Bytes(f.Memory)
	}
	return cpu, memory
}

func (m *model) paneRows(height int) []string {
	i := m.item()
	rows := make([]string, 0, height)
	if i != nil && m.view.Asking {
		rows = append(rows, m.questionPane(*i, height)...)
	} else if i != nil {
		rows = append(rows, m.paneHead(*i)...)
		rows = append(rows, m.paneBody(*i, max(0, height-len(rows)))...)
	} else if m.at < len(m.rows) {
		r := m.rows[m.at]
		rows = append(rows, bold.paint(safetext.Line(r.Group)), faint.paint(count(r.Count, "worker")), "", faint.paint("enter folds it"))
	}
	for len(rows) < height {
		rows = append(rows, "")
	}
	return rows[:height]
}

func (m *model) paneHead(i dash.Item) []string {
	symbol, tone, state, age := m.attention(i)
	width := m.paneWidth()
	state = tone.paint(safetext.Line(state)) + faint.paint(age)
	name := m.cut(safetext.Line(i.Name), max(8, width-4-widthOf(state)))
	rows := []string{tone.paint(symbol) + " " + bold.paint(name) + "  " + state}
	if remark := safetext.Line(i.Remark()); remark != "" {
		s := normal
		if i.State.Urgency == dash.Attention {
			s = toned(condition.Asking)
		}
		rows = append(rows, s.paint(m.cut(remark, width)))
	} else {
		rows = append(rows, faint.paint(m.cut(safetext.Line(i.CommandLine()), width)))
	}
	if cpus, memories := i.Series(); len(memories) > 0 {
		cpu, memory := lastFigures(i)
		spark := 12
		if width < 44 {
			spark = 8
		}
		rows = append(rows, fmt.Sprintf("%s %s %s  %s %s %s", faint.paint("cpu"), m.spark(cpus, leastCPU, spark), m.right(cpu, 4),
			faint.paint("mem"), m.spark(memories, leastMemory, spark), memory))
	}
	return append(rows, "")
}

func (m *model) lineRows(line string) []string {
	if m.wrap {
		return rowsOf(line, m.paneWidth(), 0)
	}
	return []string{m.cut(line, m.paneWidth())}
}

func (m *model) paneBody(i dash.Item, height int) []string {
	p := &m.pane
	if p.id != i.ID {
		return nil
	}
	var rows []string
	switch p.tab {
	case tabLog:
		rows = m.logRows(i.Name, height)
	case tabScreen:
		rows = m.screenRows(i, height)
	case tabDetails, tabDiff, tabHistory:
		rows = m.entryRows(height)
	}
	if p.err != nil {
		for _, row := range wrapped(safetext.Line(p.err.Error()), m.paneWidth(), 4) {
			rows = append(rows, red.paint(row))
		}
		rows = rows[max(0, len(rows)-height):]
	}
	return rows
}

// logRows draws the end of the log, or the part to which it is scrolled back.
func (m *model) logRows(name string, height int) []string {
	p := &m.pane
	var rows []string // the last one first
	n := len(p.lines) - 1
	for ; n >= 0 && len(rows) < height+p.back; n-- {
		line := m.lineRows(p.lines[n])
		for _, row := range slices.Backward(line) {
			rows = append(rows, row)
		}
	}
	if n < 0 && p.earlier {
		for _, row := range slices.Backward(wrapped(dash.Earlier(name), m.paneWidth(), 0)) {
			rows = append(rows, faint.paint(row))
		}
	}
	p.back = max(0, min(p.back, len(rows)-height))
	rows = rows[p.back:min(len(rows), p.back+height)]
	if len(rows) == 0 && p.follow != nil && p.err == nil {
		if p.over {
			return []string{faint.paint("It wrote nothing.")}
		}
		return nil
	}
	shown := make([]string, len(rows))
	for n, row := range rows {
		shown[len(rows)-1-n] = row
	}
	return shown
}

// screenRows draws the screen of a worker, or as much of its end as there is space for.
func (m *model) screenRows(i dash.Item, height int) []string {
	lines := m.pane.picture
	if !m.pane.shows {
		if m.pane.follow != nil && i.Gone() && m.pane.over {
			return []string{faint.paint("No screen is left of it.")}
		}
		return nil
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	m.pane.back = max(0, min(m.pane.back, len(lines)-height))
	end := len(lines) - m.pane.back
	var rows []string
	for _, line := range lines[max(0, end-height):end] {
		rows = append(rows, m.cut(line, m.paneWidth()))
	}
	return rows
}

// entryRows draws the paragraphs of a tab from where it is scrolled to.
func (m *model) entryRows(height int) []string {
	p := &m.pane
	if p.loaded.IsZero() {
		return nil
	}
	if len(p.entries) == 0 && p.err == nil {
		text := "Nothing."
		if p.tab == tabDiff {
			text = "No changes."
		}
		return []string{faint.paint(text)}
	}
	entries := p.entries
	if p.tab == tabDetails {
		entries = slices.Concat(p.saved, entries)
	}
	labels := min(labelWidth(entries), m.paneWidth()/3)
	var rows []string
	for _, e := range entries {
		rows = append(rows, e.rows(m.paneWidth(), labels)...)
		if len(rows) >= p.down+height+1 {
			break
		}
	}
	p.down = max(0, min(p.down, len(rows)-height))
	return rows[p.down:min(len(rows), p.down+height)]
}

// ageOf returns how long a worker has been as it is.
func ageOf(c condition.Condition, now time.Time) string {
	if c.Since.IsZero() {
		return ""
	}
	return humane.Age(now.Sub(c.Since))
}
