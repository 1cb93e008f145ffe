package top

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/safetext"
)

// asks reports whether some agent waits for an answer.
func (m *model) asks() bool { return slices.ContainsFunc(m.board.Items, dash.Answer.Suits) }

// meet shows the questions of agents first, if there are any when the dashboard is opened.
func (m *model) meet() {
	if m.board.Read && !m.met {
		m.met, m.view.Asking = true, m.asks()
	}
	if !m.asks() {
		m.view.Asking = false
	}
}

// toggleAsking shows the questions alone, or all workers.
func (m *model) toggleAsking() tea.Cmd {
	if !m.view.Asking && !m.asks() {
		m.fail("no agent asks anything")
		return nil
	}
	m.view.Asking, m.zoom = !m.view.Asking, false
	m.list()
	return nil
}

const (
	askedName, askedSince, askedProject = 14, 5, 14
)

// questionRow is a question in the list of them.
func (m *model) questionRow(i dash.Item, selected bool) string {
	mark := " "
	if m.marks[i.ID] {
		mark = strong.paint(m.symbol("▪", "#"))
	}
	c, _ := i.Condition(m.now)
	return m.cursorOf(selected) + mark + m.fit(bold.paint(safetext.Line(i.Name)), askedName) + " " +
		m.fit(faint.paint(ageOf(c, m.now)), askedSince) + " " + m.fit(safetext.Line(i.ProjectName()), askedProject) + " " + safetext.Line(i.Remark())
}

// questionPane is the whole of a question, with its answers.
func (m *model) questionPane(i dash.Item, height int) []string {
	width := m.paneWidth()
	rows := []string{bold.paint(safetext.Line(i.Name)) + "  " + faint.paint(safetext.Line(i.ProjectName())), ""}
	lines := dash.DialogLines(i.Dialog(), false)
	if len(lines) == 0 {
		lines = []string{safetext.Line(i.Remark())}
	}
	for _, line := range lines {
		rows = append(rows, rowsOf(line, width, 0)...)
	}
	var choices []profile.Choice
	if s := i.Worker.State; s != nil {
		choices = s.Choices
	}
	rows = append(rows, "")
	space := max(3, height-len(choices)-1)
	if len(rows) > space {
		rows = append(rows[:space-2], faint.paint(m.symbol("…", "...")+" enter shows more"), "")
	}
	for _, c := range choices {
		rows = append(rows, strong.paint(m.fit(safetext.Line(c.Key), 2))+" "+safetext.Line(c.Label))
	}
	return append(rows, faint.paint("enter answers it"))
}
