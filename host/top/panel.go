package top

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/safetext"
)

func (m *model) panel() ([]string, *tea.Cursor) {
	var lines []string
	var cursor *tea.Cursor
	add := func(line string) { lines = append(lines, m.fit(" "+line, m.width)) }
	ask := func(prompt string) {
		text, column := m.edit.view(m.width - widthOf(prompt) - 3)
		cursor = tea.NewCursor(widthOf(prompt)+1+column, len(lines))
		add(prompt + text)
	}
	space := max(0, m.height-headRows-5)
	switch m.mode {
	case modeText:
		lines = append(lines, m.line1())
		prompt := string(m.action.Verb) + " " + m.names() + " " + m.symbol("❯", ">") + " "
		if choices := m.offered(); len(choices) > 0 {
			for _, row := range m.askedRows(max(1, space-len(choices))) {
				add(row)
			}
			for i, c := range choices[:min(len(choices), max(0, space-1))] {
				label := c.Label
				if c.Checked != nil && c.Kind == profile.KindOption {
					box := "[ ] "
					if slices.Contains(m.action.Choices, c.Label) {
						box = "[x] "
					}
					label = box + label
				}
				onField := c.Kind == profile.KindText && i == m.choice
				add(m.choiceRow(onField || i == m.choice && len(m.edit.text) == 0, safetext.Line(c.Key+"  "+label)))
			}
		}
		ask(strong.paint(prompt))
		a := m.reply()
		if a.Text == "" && a.Field == "" && !a.Submit {
			a.Text = "…"
		}
		add(faint.paint("  " + safetext.Line(plainDots(a.Line()))))
	case modePalette:
		lines = append(lines, m.line1())
		all := m.matches()
		n := min(8, space)
		from := max(0, min(m.choice-n+1, len(all)-n))
		same := ""
		for i, b := range all[from:min(len(all), from+n)] {
			row := m.fit(b.name(), 20) + " " + b.text()
			if b.verb != "" && !b.suits(m) {
				row = faint.paint(row)
			}
			add(m.choiceRow(from+i == m.choice, row))
			if from+i == m.choice {
				same = m.line(b)
			}
		}
		for range n - min(n, len(all)) {
			add("")
		}
		ask(strong.paint(":") + " ")
		add(faint.paint("  " + safetext.Line(same)))
	case modeConfirm:
		lines = append(lines, m.line1())
		m.confirmRows(space, add)
	case modeList:
		if rows := m.noteRows(); len(rows) > 1 {
			lines = append(lines, m.line1())
			for _, row := range rows {
				add(row)
			}
		}
	case modeFilter, modeHelp:
	}
	return lines, cursor
}

// askedRows returns what the agent asks: the whole block that is approved. Lines that have no
// space are counted.
func (m *model) askedRows(space int) []string {
	i := m.action.Items[0]
	var rows []string
	for _, line := range dash.DialogLines(i.Dialog(), false) {
		rows = append(rows, rowsOf(line, m.width-2, 0)...)
	}
	if len(rows) == 0 {
		rows = rowsOf(safetext.Line(i.Remark()), m.width-2, 0)
	}
	if missing := len(rows) - space; missing > 0 {
		rows = append(rows[:space-1], fmt.Sprintf("%s %s not shown: swarm status %s", m.symbol("…", "..."), count(missing+1, "more row"), safetext.Line(i.Name)))
	}
	for at, row := range rows {
		rows[at] = bold.paint(row)
	}
	return rows
}

// confirmRows adds what is asked before something is lost.
func (m *model) confirmRows(space int, add func(string)) {
	names := m.names()
	if n := len(m.action.Items); n > 1 {
		names = count(n, "worker")
	}
	question := bold.paint(dash.Title(string(m.action.Verb)) + " " + names + "?")
	if m.skipped != "" {
		question += faint.paint("  " + dash.Title(m.skipped) + ".")
	}
	add(question)
	var rows []string
	risks := m.action.Risk(m.now)
	if len(m.action.Items) > 1 && len(risks) < len(m.action.Items) {
		rows = wrapped(m.names(), m.width-4, 3)
	}
	for _, risk := range risks {
		rows = append(rows, toned(condition.Waiting).paint(safetext.Line(risk)))
	}
	if m.action.Verb == dash.Clean && slices.ContainsFunc(m.action.Items, func(i dash.Item) bool { return i.Workspace != nil }) {
		rows = append(rows[:min(len(rows), max(1, space-1))], faint.paint("--force-dirty in a shell saves the changes and removes the workspace"))
	}
	for _, row := range rows[:min(len(rows), space)] {
		add("  " + row)
	}
	add(faint.paint("  " + safetext.Line(m.action.Line())))
}

func (m *model) line1() string { return faint.paint(strings.Repeat(m.symbol("─", "-"), m.width)) }

func (m *model) choiceRow(chosen bool, text string) string {
	if chosen {
		return strong.paint(m.symbol("▌", ">")) + " " + bold.paint(text)
	}
	return "  " + text
}

func (m *model) names() string {
	var names []string
	for _, i := range m.action.Items {
		names = append(names, safetext.Line(i.Name))
	}
	if len(names) > 3 {
		names = append(names[:2:2], count(len(names)-2, "more worker"))
	}
	return strings.Join(names, ", ")
}

func (m *model) help() []string {
	half := m.width
	if m.width >= 76 {
		half = min(46, m.width*54/100)
	}
	column := func(wide int, titles ...string) (lines []string) {
		for _, s := range sections() {
			if !slices.Contains(titles, s.title) {
				continue
			}
			if len(lines) > 0 {
				lines = append(lines, "")
			}
			lines = append(lines, bold.paint(s.title))
			for _, b := range s.bindings {
				shown := b.shown
				if m.plain {
					shown = b.keys[0]
				}
				for i, row := range wrapped(b.text(), wide, 0) {
					if i > 0 {
						shown = ""
					}
					lines = append(lines, accent.paint(m.fit(shown, 8))+" "+row)
				}
			}
		}
		return lines
	}
	const key = 10 // the margin, and the keys
	rest := half
	if half < m.width {
		rest = m.width - half + 1
	}
	left, right := column(half-key, "Workers", "Dashboard"), column(rest-key, "List", "Worker on the right")
	height := m.height - 3
	if half == m.width {
		left, right = append(append(left, ""), right...), nil
	}
	lines := []string{m.line1()}
	for i := range height {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		lines = append(lines, m.fit(" "+m.fit(l, half-1)+r, m.width))
	}
	return lines
}
