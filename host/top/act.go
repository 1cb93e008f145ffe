package top

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/profile"
)

func (m *model) start(v dash.Verb) tea.Cmd {
	a := dash.Action{Verb: v}
	items := m.items()
	for _, i := range items {
		if v.Suits(i) {
			a.Items = append(a.Items, i)
		}
	}
	if len(a.Items) == 0 {
		if len(items) > 0 {
			m.fail(v.Refusal(items[0]))
			if v.TakesText() {
				m.refused = m.now
			}
		}
		return nil
	}
	m.skipped = v.Skipped(len(items) - len(a.Items))
	m.action = a
	switch {
	case v == dash.Attach:
		if len(a.Items) > 1 {
			m.fail("cannot attach to several workers at once")
			return nil
		}
		return m.attach(a.Items[0])
	case v.TakesText():
		m.mode, m.edit, m.choice = modeText, editor{}, 0
		if v == dash.Keys && len(a.Items) == 1 {
			m.action.Digest = a.Items[0].Digest()
		}
		if v == dash.Answer {
			m.action.Items = a.Items[:1]
			m.action.Digest = a.Items[0].Digest()
			m.choice = max(0, slices.IndexFunc(m.offered(), func(c profile.Choice) bool { return c.Selected }))
			for _, c := range m.choices() {
				if c.Kind == profile.KindOption && c.Checked != nil && *c.Checked {
					m.action.Choices = append(m.action.Choices, c.Label)
				}
			}
		}
		return nil
	case a.Asks(m.now):
		m.mode = modeConfirm
		return nil
	default:
		return m.act()
	}
}

func (m *model) act() tea.Cmd {
	m.mode = modeList
	clear(m.marks)
	return m.do(m.action, m.skipped)
}

// boxes reports whether the question that is answered has choices with boxes.
func (m *model) boxes() bool { return profile.HasBoxes(m.choices()) }

// offered are the choices that are shown: what sends checked boxes is Enter.
func (m *model) offered() []profile.Choice {
	all := m.choices()
	if m.boxes() {
		all = slices.DeleteFunc(slices.Clone(all), func(c profile.Choice) bool { return c.Kind == profile.KindSubmit })
	}
	return all
}

// onField reports whether the dialog's field for a text is selected.
func (m *model) onField() bool {
	all := m.offered()
	return m.choice < len(all) && all[m.choice].Kind == profile.KindText
}

// check checks or clears the box of the selected choice.
func (m *model) check() {
	all := m.offered()
	if m.choice >= len(all) {
		return
	}
	label := all[m.choice].Label
	if i := slices.Index(m.action.Choices, label); i >= 0 {
		m.action.Choices = slices.Delete(slices.Clone(m.action.Choices), i, i+1)
	} else {
		m.action.Choices = append(slices.Clone(m.action.Choices), label)
	}
}

// reply returns the action with the answer as it stands: what was typed is a choice, or the text
// for the dialog's field if that is selected or has boxes next to it.
func (m *model) reply() dash.Action {
	a := m.action
	if a.Text = m.typedText(); a.Verb != dash.Answer {
		return a
	}
	all, typed := m.offered(), m.edit.value()
	switch has := profile.IndexKind(all, profile.KindText) >= 0; {
	case m.boxes():
		a.Text, a.Submit = "", true
		if has {
			a.Field = strings.TrimSpace(typed)
		}
	case m.onField():
		a.Text, a.Field = "", strings.TrimSpace(typed)
	}
	return a
}

func (m *model) choices() []profile.Choice {
	if m.action.Verb != dash.Answer || len(m.action.Items) == 0 || m.action.Items[0].Worker.State == nil {
		return nil
	}
	return m.action.Items[0].Worker.State.Choices
}

// confirmKey takes the answer to a question. Enter is not an answer: it is pressed without
// looking, and often belongs to a text that was typed before.
func (m *model) confirmKey(name string) tea.Cmd {
	switch name {
	case "y":
		return m.act()
	case "n", "esc", "q":
		m.mode = modeList
	}
	return nil
}

func (m *model) editKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		if m.mode == modeFilter {
			m.view.Filter = ""
			m.list()
		}
		m.mode = modeList
		return nil
	case "enter":
		return m.enterKey()
	case "up", "ctrl+p":
		m.choice = max(0, m.choice-1)
		return nil
	case "down", "ctrl+n", "tab":
		m.choice = min(m.choice+1, max(0, m.choiceCount()-1))
		return nil
	}
	if m.mode == modeText && m.action.Verb == dash.Answer && len(m.edit.text) == 0 && !m.onField() {
		if k.String() == "space" && m.boxes() {
			m.check()
			return nil
		}
		all := m.offered()
		if i := slices.IndexFunc(all, func(c profile.Choice) bool { return c.Key != "" && c.Key == k.Text }); i >= 0 {
			switch m.choice = i; {
			case all[i].Kind == profile.KindText:
			case m.boxes():
				m.check()
			default:
				return m.enterKey()
			}
			return nil
		}
	}
	if m.edit.key(k) {
		m.typed()
	}
	return nil
}

func (m *model) typed() {
	switch m.mode {
	case modeFilter:
		m.view.Filter = m.edit.value()
		m.list()
	case modePalette:
		m.choice = 0
	case modeText, modeList, modeConfirm, modeHelp:
	}
}

func (m *model) choiceCount() int {
	if m.mode == modePalette {
		return len(m.matches())
	}
	return len(m.offered())
}

func (m *model) enterKey() tea.Cmd {
	switch m.mode {
	case modeText:
		a := m.reply()
		if strings.TrimSpace(a.Text) == "" && a.Field == "" && !a.Submit && a.Verb != dash.Send {
			return nil
		}
		m.action = a
		return m.act()
	case modePalette:
		all := m.matches()
		m.mode = modeList
		if m.choice >= len(all) {
			return nil
		}
		chosen, text := all[m.choice], m.paletteText()
		if chosen.verb == "" || !chosen.verb.TakesText() || text == "" {
			return chosen.do(m)
		}
		cmd := m.start(chosen.verb)
		if m.mode != modeText {
			return cmd
		}
		m.edit.set(text)
		return m.enterKey()
	case modeFilter, modeList, modeConfirm, modeHelp:
		m.mode = modeList
	}
	return nil
}

// typedText is the text of the action: what was typed, or the choice.
func (m *model) typedText() string {
	text := m.edit.value()
	if choices := m.offered(); text == "" && m.choice < len(choices) && choices[m.choice].Kind != profile.KindText {
		return choices[m.choice].Label
	}
	return text
}

func (m *model) startFilter() tea.Cmd {
	m.mode = modeFilter
	m.edit.set(m.view.Filter)
	return nil
}

func (m *model) startPalette() tea.Cmd {
	m.mode, m.edit, m.choice = modePalette, editor{}, 0
	return nil
}

func (m *model) palette() []binding {
	var now, never []binding
	for _, s := range sections() {
		for _, b := range s.bindings {
			switch {
			case b.verb == "" && b.name() == "":
			case b.suits(m):
				now = append(now, b)
			default:
				never = append(never, b)
			}
		}
	}
	for _, sort := range dash.Sorts {
		now = append(now, binding{hint: "sort by " + string(sort), about: "the order of the list", run: func(m *model) tea.Cmd {
			m.view.Sort = sort
			m.list()
			return nil
		}})
	}
	for _, group := range dash.Groups {
		name, about := "group by "+string(group), "workers with the same one together"
		if group == dash.GroupNone {
			name, about = "no groups", "all workers in one list"
		}
		now = append(now, binding{hint: name, about: about, run: func(m *model) tea.Cmd {
			m.view.Group = group
			m.regroup()
			return nil
		}})
	}
	return append(now, never...)
}

// name is what a command is called in the palette; empty: it is not there.
func (b binding) name() string {
	if b.verb != "" {
		return string(b.verb)
	}
	return b.hint
}

// paletteText is what was typed behind the name of a command.
func (m *model) paletteText() string {
	_, text, _ := strings.Cut(strings.TrimSpace(m.edit.value()), " ")
	return strings.TrimSpace(text)
}

// matches returns the commands that what was typed can mean: those whose name begins with
// it, then those that have all of its words. A text for a worker may follow a verb's name.
func (m *model) matches() []binding {
	typed := strings.ToLower(strings.TrimSpace(m.edit.value()))
	first, rest, _ := strings.Cut(typed, " ")
	var begin, within []binding
	for _, b := range m.palette() {
		name := strings.ToLower(b.name())
		switch {
		case strings.HasPrefix(name, typed), rest != "" && b.verb.TakesText() && strings.HasPrefix(name, first):
			begin = append(begin, b)
		case !slices.ContainsFunc(words(typed), func(w string) bool { return !strings.Contains(name+" "+strings.ToLower(b.text()), w) }):
			within = append(within, b)
		}
	}
	return append(begin, within...)
}

func (m *model) line(b binding) string {
	switch {
	case b.verb != "":
		a := dash.Action{Verb: b.verb, Items: m.items(), Text: m.paletteText()}
		if len(a.Items) == 0 {
			return ""
		}
		if b.verb.TakesText() && a.Text == "" {
			a.Text = "…"
		}
		return plainDots(a.Line())
	case b.hint == "filter":
		return "swarm ls --tag TAG"
	default:
		return ""
	}
}

// plainDots takes the quotes off a text that the person has not edited yet.
func plainDots(line string) string { return strings.ReplaceAll(line, "'…'", "…") }

func (m *model) enter(msg attachMsg) tea.Cmd {
	if msg.err != nil {
		m.fail(msg.err.Error())
		return nil
	}
	m.gauge.Want(nil, false) // until the terminal is back
	return tea.Exec(m.child(msg.to), func(err error) tea.Msg { return backMsg{msg.name, err} })
}
