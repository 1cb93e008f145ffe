package top

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
)

type binding struct {
	// keys are the names of keys as [tea.Key.String] returns them; shown is how the help
	// and the footer name them.
	keys  []string
	shown string
	// hint is the word in the footer; empty: it is not there. about is the help.
	hint, about string
	// verb is what it does with workers; empty: nothing.
	verb dash.Verb
	run  func(m *model) tea.Cmd
}

// hintQuestions is the word for the list of questions, which is offered while there are any.
const hintQuestions = "questions"

type section struct {
	title    string
	bindings []binding
}

// sections returns all commands, in the order of the help.
func sections() []section {
	return []section{
		{"Workers", []binding{
			{keys: []string{"a"}, shown: "a", hint: "attach", verb: dash.Attach},
			{keys: []string{"y"}, shown: "y", hint: "answer", verb: dash.Answer},
			{keys: []string{"s"}, shown: "s", hint: "send", verb: dash.Send},
			{keys: []string{"K"}, shown: "K", verb: dash.Keys},
			{keys: []string{"i"}, shown: "i", verb: dash.Interrupt},
			{keys: []string{"x"}, shown: "x", hint: "kill", verb: dash.Kill},
			{keys: []string{"r"}, shown: "r", hint: "respawn", verb: dash.Respawn},
			{keys: []string{"c"}, shown: "c", hint: "clean", verb: dash.Clean},
			{keys: []string{"space"}, shown: "space", about: "mark, to act on several", run: (*model).mark},
			{keys: []string{"A"}, shown: "A", about: "mark all shown, or none", run: (*model).markAll},
		}},
		{"List", []binding{
			{keys: []string{"up", "k"}, shown: "↑ k", about: "up", run: func(m *model) tea.Cmd { return m.step(-1) }},
			{keys: []string{"down", "j"}, shown: "↓ j", about: "down", run: func(m *model) tea.Cmd { return m.step(1) }},
			{keys: []string{"home", "g"}, shown: "g", about: "first", run: func(m *model) tea.Cmd { return m.step(-len(m.rows)) }},
			{keys: []string{"end", "G"}, shown: "G", about: "last", run: func(m *model) tea.Cmd { return m.step(len(m.rows)) }},
			{keys: []string{"enter"}, shown: "enter", about: "attach, zoom, fold a group", run: (*model).open},
			{keys: []string{"o"}, shown: "o", about: "next order of the list", run: (*model).nextSort},
			{keys: []string{"b"}, shown: "b", about: "group by tag, team, project or workspace", run: (*model).nextGroup},
			{keys: []string{"Q"}, shown: "Q", hint: hintQuestions, about: "questions of agents, or all workers", run: (*model).toggleAsking},
			{keys: []string{"/"}, shown: "/", hint: "filter", about: "filter by words", run: (*model).startFilter},
			{keys: []string{"esc"}, shown: "esc", about: "end zoom, marks, filter", run: (*model).escape},
		}},
		{"Worker on the right", []binding{
			{keys: []string{"tab", "right", "l"}, shown: "tab →", about: "next tab", run: func(m *model) tea.Cmd { return m.turnBy(1) }},
			{keys: []string{"shift+tab", "left", "h"}, shown: "⇧tab ←", about: "previous tab", run: func(m *model) tea.Cmd { return m.turnBy(-1) }},
			{keys: []string{"pgup", "ctrl+u"}, shown: "pgup", about: "scroll up", run: func(m *model) tea.Cmd { return m.scroll(-m.paneHeight() / 2) }},
			{keys: []string{"pgdown", "ctrl+d"}, shown: "pgdn", about: "scroll down", run: func(m *model) tea.Cmd { return m.scroll(m.paneHeight() / 2) }},
			{keys: []string{"f"}, shown: "f", about: "follow the end of the log", run: (*model).followEnd},
			{keys: []string{"w"}, shown: "w", about: "wrap or cut long lines", run: func(m *model) tea.Cmd { m.wrap = !m.wrap; m.pane.back = 0; return nil }},
			{keys: []string{"z"}, shown: "z", about: "use the whole width", run: func(m *model) tea.Cmd { m.zoom = !m.zoom; m.see(); return nil }},
		}},
		{"Dashboard", []binding{
			{keys: []string{":"}, shown: ":", hint: "commands", about: "commands as shell lines", run: (*model).startPalette},
			{keys: []string{"m"}, shown: "m", about: "mouse off, to select text", run: func(m *model) tea.Cmd { m.mouse = !m.mouse; return nil }},
			{keys: []string{"?"}, shown: "?", hint: "help", about: "this page", run: func(m *model) tea.Cmd { m.mode = modeHelp; return nil }},
			{keys: []string{"ctrl+z"}, shown: "ctrl-z", about: "to the shell; fg returns", run: func(*model) tea.Cmd { return tea.Suspend }},
			{keys: []string{"q", "ctrl+c"}, shown: "q", hint: "quit", about: "quit; workers continue", run: func(*model) tea.Cmd { return tea.Quit }},
		}},
	}
}

func (b binding) text() string {
	if b.verb != "" {
		return b.verb.About()
	}
	return b.about
}

func (b binding) do(m *model) tea.Cmd {
	if b.verb != "" {
		return m.start(b.verb)
	}
	return b.run(m)
}

func (b binding) suits(m *model) bool {
	if b.verb == "" {
		return b.hint != hintQuestions || m.asks()
	}
	return slices.ContainsFunc(m.items(), b.verb.Suits)
}

func bound(key string) (binding, bool) {
	for _, s := range sections() {
		for _, b := range s.bindings {
			if slices.Contains(b.keys, key) {
				return b, true
			}
		}
	}
	return binding{}, false
}

func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name == "ctrl+c" {
		return tea.Quit
	}
	switch m.mode {
	case modeHelp:
		m.mode = modeList
		return nil
	case modeConfirm:
		return m.confirmKey(name)
	case modeText, modeFilter, modePalette:
		return m.editKey(k)
	case modeList:
	}
	if m.ignores(k) {
		return nil
	}
	if len(m.shownNote.lines) > 0 {
		bad := m.shownNote.bad
		m.shownNote = note{} // it was read
		if bad && name == "esc" {
			return nil
		}
	}
	if m.zoom {
		switch name {
		case "up", "k":
			return m.scroll(-1)
		case "down", "j":
			return m.scroll(1)
		case "home", "g":
			return m.scroll(-1 << 20)
		case "end", "G":
			return m.scroll(1 << 20)
		}
	}
	if b, ok := bound(name); ok {
		return b.do(m)
	}
	return nil
}

// ignores reports whether a key belongs to a text that a person types although the line for
// it was refused: its letters must not run commands. A pause ends the text, and so do enter,
// esc and every key that is no letter.
func (m *model) ignores(k tea.KeyPressMsg) bool {
	if m.refused.IsZero() {
		return false
	}
	typing := m.now.Sub(m.refused) < pauseOfTyping
	m.refused = time.Time{}
	if !typing {
		return false
	}
	if k.Text != "" {
		m.refused = m.now
		if lines := m.shownNote.lines; len(lines) > 0 && !strings.HasSuffix(lines[0], ignored) {
			lines[0] += ignored
		}
		return true
	}
	return k.String() == "enter"
}

// ignored is added to the message about a refused line when letters of a text follow it.
const ignored = "; your text is ignored"

func (m *model) step(n int) tea.Cmd {
	end := n >= len(m.rows)
	m.move(m.at + n)
	if m.pass() && end {
		m.move(len(m.rows) - 1)
	}
	return nil
}

func (m *model) mark() tea.Cmd {
	if i := m.item(); i != nil {
		if m.marks[i.ID] {
			delete(m.marks, i.ID)
		} else {
			m.marks[i.ID] = true
		}
	}
	return m.step(1)
}

func (m *model) markAll() tea.Cmd {
	fresh := false
	for _, r := range m.rows {
		if r.Item != nil && !m.marks[r.Item.ID] {
			m.marks[r.Item.ID], fresh = true, true
		}
	}
	if !fresh {
		clear(m.marks)
	}
	return nil
}

// open does what is most likely wanted of the selected row.
func (m *model) open() tea.Cmd {
	if m.at >= len(m.rows) {
		return nil
	}
	m.see()
	r := m.rows[m.at]
	if r.Item == nil {
		m.view.Folded[r.Group] = !r.Folded
		m.list()
		return nil
	}
	if m.view.Asking {
		return m.start(dash.Answer)
	}
	if r.Item.Where.Kind != "" && dash.Attach.Suits(*r.Item) {
		return m.start(dash.Attach)
	}
	m.zoom = !m.zoom
	return nil
}

func (m *model) nextSort() tea.Cmd {
	m.view.Sort = dash.Next(dash.Sorts, m.view.Sort)
	m.list()
	return nil
}

func (m *model) nextGroup() tea.Cmd {
	m.view.Group = dash.Next(dash.Groups, m.view.Group)
	m.regroup()
	return nil
}

// regroup makes the rows anew after their groups have changed: the worker stays selected.
func (m *model) regroup() {
	name := ""
	if i := m.item(); i != nil {
		name = i.Name
	}
	m.rows = dash.Rows(m.board, m.view)
	if at := slices.IndexFunc(m.rows, func(r dash.Row) bool { return r.Item != nil && r.Item.Name == name }); at >= 0 {
		m.selected = keyOf(m.rows[at])
		m.at = at
	}
	m.list()
}

func (m *model) escape() tea.Cmd {
	switch {
	case m.zoom:
		m.zoom = false
	case len(m.marks) > 0:
		clear(m.marks)
	case m.view.Filter != "":
		m.view.Filter = ""
		m.list()
	case m.view.Asking:
		m.view.Asking = false
		m.list()
	}
	return nil
}

func (m *model) turnBy(n int) tea.Cmd {
	m.see()
	if i := m.item(); i != nil {
		tabs := tabsOf(*i)
		m.chosen = tabs[(slices.Index(tabs, m.tab(*i))+n+len(tabs))%len(tabs)]
	}
	return nil
}

// scroll moves what is shown on the right by rows; down is positive.
func (m *model) scroll(n int) tea.Cmd {
	m.see()
	if m.pane.tab == tabLog || m.pane.tab == tabScreen {
		m.pane.back = max(0, m.pane.back-n)
	} else {
		m.pane.down = max(0, m.pane.down+n)
	}
	return nil
}

func (m *model) followEnd() tea.Cmd {
	m.pane.back = 0
	if i := m.item(); i != nil && m.tab(*i) != tabLog {
		m.chosen = tabLog
	}
	return nil
}

// attention returns the symbol, the style and the text of how a worker is, and since when
// with what separates it from the text: "running" and " 2h", "exited 3" and ", 5m".
func (m *model) attention(i dash.Item) (symbol string, s style, text, age string) {
	c, doing := i.Condition(m.now)
	s = toned(c.Kind.Tone())
	if i.State.Urgency == dash.Ended && c.Kind.Tone() == condition.Bad {
		s = faint // a person has seen it
	}
	text = c.Text
	if doing != "" {
		return c.Kind.Symbol(m.plain), toned(condition.Waiting), doing, ""
	}
	if age = ageOf(c, m.now); age != "" {
		age = " " + age
		if c.Over {
			age = "," + age
		}
	}
	if mark := c.RestartMark(m.plain); mark != "" {
		age += " " + mark
	}
	return c.Kind.Symbol(m.plain), s, text, age
}

// words returns the words of a text in lower case.
func words(s string) []string { return strings.Fields(strings.ToLower(s)) }
