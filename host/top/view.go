package top

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/shared/safetext"
)

type frame struct {
	// left is the width of the list, 0 if it is not shown; pane the first column of the
	// right side, -1 if that is not shown.
	left, pane int
	tabs       []span
	hints      []span
}

type span struct {
	from, to int
	tab      tab
	key      binding
}

const (
	// headRows are the rows above the list: the counts, the heads of columns, a rule.
	headRows = 3
	// minWidth and minHeight are the smallest terminal in which anything is shown, and
	// twoSides the smallest width with a right side.
	minWidth, minHeight, twoSides = 24, 8, 60
)

func (m *model) View() tea.View {
	v := tea.View{AltScreen: true}
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.width < minWidth || m.height < minHeight {
		v.SetContent("too small")
		return v
	}
	m.frame = frame{left: m.leftWidth(), pane: -1}
	if m.frame.left < m.width {
		m.frame.pane = m.frame.left
		if m.frame.left > 0 {
			m.frame.pane++
		}
	}
	lines := []string{m.header()}
	if m.mode == modeHelp {
		lines = append(lines, m.help()...)
	} else {
		lines = append(lines, m.heads(), m.rule())
		lines = append(lines, m.body()...)
	}
	panel, cursor := m.panel()
	if cursor != nil {
		cursor.Y += len(lines)
	}
	lines = append(lines, panel...)
	foot, at := m.footer()
	if at != nil {
		at.Y = len(lines)
		cursor = at
	}
	lines = append(lines, foot)
	lines = lines[max(0, len(lines)-m.height):]
	for i, line := range lines {
		lines[i] = m.fit(line, m.width) // the last word on what reaches the terminal
	}
	v.Cursor = cursor
	v.SetContent(strings.Join(lines, "\n"))
	return v
}

func (m *model) leftWidth() int {
	switch {
	case m.zoom && len(m.rows) > 0:
		return 0
	case m.width < twoSides:
		return m.width
	default:
		return min(max(m.width*45/100, narrowest), m.widest())
	}
}

func (m *model) bodyHeight() int {
	panel, _ := m.panel()
	return max(0, m.height-headRows-len(panel)-1)
}

func (m *model) paneHeight() int { return max(1, m.bodyHeight()-4) }

func (m *model) paneWidth() int {
	left := m.leftWidth()
	if left == 0 {
		return m.width - 2
	}
	return m.width - left - 3
}

func (m *model) header() string {
	var facts []string
	if n := len(m.marks); n > 0 {
		facts = append(facts, strong.paint(strconv.Itoa(n)+" marked"))
	}
	if m.view.Filter != "" && m.mode != modeFilter {
		facts = append(facts, accent.paint("/"+safetext.Line(m.view.Filter)))
	}
	if m.view.Asking {
		facts = append(facts, accent.paint("questions, the oldest first; esc shows all"))
	} else if m.view.Sort != dash.SortUrgency {
		facts = append(facts, faint.paint("sorted by "+string(m.view.Sort)))
	}
	if m.view.Group != dash.GroupNone && !m.view.Asking {
		facts = append(facts, faint.paint("by "+string(m.view.Group)))
	}
	if m.board.Problem != "" {
		facts = append(facts, red.paint(safetext.Line(m.board.Problem)))
	}
	right := ""
	if len(facts) > 0 {
		right = " " + m.cut(strings.Join(facts, "  "), m.width/2) + " "
	}
	space := m.width - widthOf(right)
	left := " " + bold.paint("swarm") + "  " + m.counts(false)
	if widthOf(left) > space {
		left = m.counts(false)
	}
	if widthOf(left) > space {
		left = m.counts(true)
	}
	return m.fit(left, space) + right
}

// counts says how many workers there are of each urgency; short leaves the words out.
func (m *model) counts(short bool) string {
	var text strings.Builder
	counts := m.board.Counts()
	for _, u := range dash.Urgencies() {
		if n := counts[u]; n > 0 {
			words := strconv.Itoa(n)
			if !short {
				words += " " + u.String()
			}
			text.WriteString(" " + m.urgent(u, words) + " ")
		}
	}
	return text.String()
}

func (m *model) urgent(u dash.Urgency, words string) string {
	return toned(u.Kind().Tone()).paint(u.Kind().Symbol(m.plain) + " " + words)
}

func (m *model) heads() string {
	var line string
	if m.frame.left > 0 {
		heads := strings.Repeat(" ", 2) + m.fit("WORKER", askedName) + " " + m.fit("SINCE", askedSince) + " " + m.fit("PROJECT", askedProject) + " QUESTION"
		if !m.view.Asking {
			heads = m.columns().heads(m)
		}
		line = faint.paint(m.fit(heads, m.frame.left))
	}
	if m.frame.pane < 0 {
		return line
	}
	if m.frame.left > 0 {
		line += faint.paint(m.symbol("│", "|"))
	}
	i := m.item()
	if i == nil || m.view.Asking {
		return line + strings.Repeat(" ", m.width-m.frame.pane)
	}
	at := m.frame.pane + 1
	var tabs strings.Builder
	tabs.WriteByte(' ')
	for _, t := range tabsOf(*i) {
		s := faint
		if t == m.tab(*i) {
			s = strong
		}
		m.frame.tabs = append(m.frame.tabs, span{from: at, to: at + len(t), tab: t})
		tabs.WriteString(s.paint(string(t)) + "  ")
		at += len(t) + 2
	}
	return line + m.fit(tabs.String(), m.width-m.frame.pane)
}

// rule is the line below the heads. It is thicker below the tab that is shown.
func (m *model) rule() string {
	thin, thick := m.symbol("─", "-"), m.symbol("━", "=")
	var b strings.Builder
	if text := m.part(); m.frame.left > widthOf(text)+2 {
		b.WriteString(strings.Repeat(thin, m.frame.left-widthOf(text)-1) + text + thin)
	} else {
		b.WriteString(strings.Repeat(thin, m.frame.left))
	}
	if m.frame.pane < 0 {
		return faint.paint(b.String())
	}
	if m.frame.left > 0 {
		b.WriteString(m.symbol("┼", "+"))
	}
	head, tail, mark := "", "", ""
	at := m.frame.pane
	for _, s := range m.frame.tabs {
		if i := m.item(); i != nil && s.tab == m.tab(*i) && s.to <= m.width {
			head, mark = strings.Repeat(thin, s.from-at), strings.Repeat(thick, s.to-s.from)
			at = s.to
		}
	}
	if space := m.width - at; space > 0 {
		if text := " " + m.where() + " "; len(text) > 2 && space > widthOf(text)+2 {
			tail = strings.Repeat(thin, space-widthOf(text)-1) + text + thin
		} else {
			tail = strings.Repeat(thin, space)
		}
	}
	return faint.paint(b.String()+head) + accent.paint(mark) + faint.paint(tail)
}

func (m *model) part() string {
	shown := m.shown()
	if len(shown) == len(m.rows) {
		return ""
	}
	workers := func(rows []dash.Row) (n int) {
		for _, r := range rows {
			if r.Item != nil {
				n++
			}
		}
		return n
	}
	above := workers(m.rows[:m.offset])
	return fmt.Sprintf(" %d-%d of %d ", above+1, above+workers(shown), workers(m.rows))
}

func (m *model) where() string {
	if m.pane.back > 0 {
		return "f follows the end"
	}
	return ""
}

func (m *model) body() []string {
	height := m.bodyHeight()
	var left, right []string
	if m.frame.left > 0 {
		left = m.listRows(height)
	}
	if m.frame.pane >= 0 {
		right = m.paneRows(height)
	}
	lines := make([]string, height)
	for i := range lines {
		if m.frame.left > 0 {
			lines[i] = left[i]
		}
		if m.frame.pane >= 0 {
			if m.frame.left > 0 {
				lines[i] += faint.paint(m.symbol("│", "|"))
			}
			lines[i] += " " + m.fit(right[i], m.width-m.frame.pane-1)
		}
	}
	return lines
}

func (m *model) footer() (string, *tea.Cursor) {
	switch m.mode {
	case modeFilter:
		text, column := m.edit.view(m.width - 30)
		line := " " + strong.paint("/") + " " + text
		hint := m.hints("enter", "keep", "esc", "no filter")
		return m.fit(line, m.width-widthOf(hint)) + hint, tea.NewCursor(3+column, 0)
	case modeText:
		if m.boxes() {
			return m.fit(m.hints("space", "check", "enter", "send what is checked", "esc", "cancel"), m.width), nil
		}
		return m.fit(m.hints("enter", "send", "esc", "cancel"), m.width), nil
	case modePalette:
		return m.fit(m.hints("enter", "run", m.symbol("↑↓", "up/down"), "choose", "esc", "cancel"), m.width), nil
	case modeConfirm:
		return m.fit(m.hints("y", string(m.action.Verb), "n", "cancel"), m.width), nil
	case modeHelp:
		return m.fit(m.hints("any key", "back"), m.width), nil
	case modeList:
	}
	if rows := m.noteRows(); len(rows) == 1 {
		return m.fit(" "+rows[0], m.width), nil
	}
	line, at := " ", 1
	all := m.footerKeys()
	for _, b := range all {
		w := widthOf(b.shown) + 1 + widthOf(b.hint)
		if at+w > m.width {
			break
		}
		m.frame.hints = append(m.frame.hints, span{from: at, to: at + w, key: b})
		line += bold.paint(b.shown) + " " + faint.paint(b.hint) + "  "
		at += w + 2
	}
	return m.fit(line, m.width), nil
}

// footerKeys are the commands of the footer: those of the worker, as far as there is space
// next to the others.
func (m *model) footerKeys() []binding {
	var verbs, others []binding
	space := m.width - 1
	for _, s := range sections() {
		for _, b := range s.bindings {
			if b.hint == "" || !b.suits(m) {
				continue
			}
			if b.verb != "" {
				verbs = append(verbs, b)
			} else {
				others = append(others, b)
				space -= widthOf(b.shown) + widthOf(b.hint) + 3
			}
		}
	}
	for i, b := range verbs {
		if space -= widthOf(b.shown) + widthOf(b.hint) + 3; space < -2 {
			verbs = verbs[:i]
			break
		}
	}
	return append(verbs, others...)
}

func (m *model) hints(pairs ...string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(bold.paint(pairs[i]) + " " + faint.paint(pairs[i+1]) + "  ")
	}
	return b.String()
}

func (m *model) noteRows() []string {
	n := m.shownNote
	var rows []string
	for i, line := range n.lines {
		s := normal
		if n.bad && i == len(n.lines)-1 {
			s = red
		}
		for _, row := range wrapped(line, m.width-2, 4) {
			rows = append(rows, s.paint(row))
		}
	}
	return rows[:min(len(rows), 6)]
}
