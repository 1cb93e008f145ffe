package top

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/worker"
)

// mode says what keys mean.
type mode int

const (
	// modeList: keys are commands.
	modeList mode = iota
	// modeFilter: what is typed filters the list.
	modeFilter
	// modeText: what is typed is sent to workers.
	modeText
	// modePalette: what is typed chooses a command.
	modePalette
	// modeConfirm: a question is asked.
	modeConfirm
	// modeHelp: the keys are shown.
	modeHelp
)

type model struct {
	*session
	theme
	width, height int
	now           time.Time
	clock         func() time.Time

	board dash.Snapshot
	view  dash.View
	rows  []dash.Row
	// at is the selected row, and offset the first row that is shown. selected identifies
	// the row, so that it stays selected when rows move.
	at, offset int
	selected   string
	marks      map[string]bool
	// opened is the worker that the person has opened, and has not left since; empty: none.
	opened string

	// met says that the first look at the workers has been shown.
	met bool

	// wants are the columns of the list if there is space for all.
	wants columns

	// chosen is the tab that the person chose, if any.
	chosen tab
	zoom   bool
	mouse  bool
	wrap   bool
	pane   pane

	clicked time.Time

	// changes are those of the workspaces of the shown workers, by their ids. compared is
	// when the last look at them ended, and comparing says that one is under way.
	changes   map[string]compare.Changes
	compared  time.Time
	comparing bool

	mode   mode
	edit   editor
	action dash.Action
	choice int
	// skipped says which of the chosen workers the action leaves out; empty: none.
	skipped string
	// refused is when the last key came that belongs to a text for which no line was
	// opened; zero: none is being typed.
	refused time.Time

	// shownNote is the message that is shown; without lines: none.
	shownNote note
	warned    int
	// frame is what the last view put where.
	frame frame
}

type pane struct {
	// id is the worker's.
	id     string
	follow *followed
	// lines are those of the log, of which total were written so far, and picture those of
	// the screen. earlier says that the log has lines before them.
	lines   []string
	earlier bool
	total   int
	picture []string
	shows   bool
	over    bool
	err     error

	// entries are those of the tab. saved are about saved work, and come first among the
	// details.
	tab     tab
	entries []entry
	saved   []entry
	loaded  time.Time
	loading bool
	// back is how many rows the log is scrolled back, down how many a page is scrolled
	// down.
	back, down int
}

// The messages that the model sends to itself.
type (
	tickMsg   time.Time
	followMsg string
)

const (
	// settle is how long a worker must be selected before its output is read: nothing is
	// started for workers that a person only passes by.
	settle = 60 * time.Millisecond
	// pauseOfTyping ends a text that is typed although no line was opened for it.
	pauseOfTyping = 1500 * time.Millisecond
	// detailsEvery and diffEvery are how often tabs are read anew that no event changes.
	detailsEvery, diffEvery = 3 * time.Second, 10 * time.Second
	// compareEvery is how often workspaces are compared for the list, on a terminal of at
	// least compareWidth cells: each comparison starts several processes.
	compareEvery, compareWidth = 30 * time.Second, 120
)

func newModel(s *session, t theme) *model {
	return &model{
		session: s, theme: t, now: time.Now(), clock: time.Now, marks: map[string]bool{}, mouse: true, wrap: true,
		view: dash.View{Sort: dash.SortUrgency, Folded: map[string]bool{}},
	}
}

func (m *model) Init() tea.Cmd { return tick(time.Second) }

func tick(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(t time.Time) tea.Msg { return tickMsg(t) })
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now = m.clock()
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		if m.mode == modeFilter || m.mode == modeText || m.mode == modePalette {
			m.edit.insert(msg.Content)
			m.typed()
		}
	case tea.MouseClickMsg:
		cmd = m.click(msg)
	case tea.MouseWheelMsg:
		cmd = m.wheel(msg)
	case tickMsg:
		m.expire()
		cmd = tea.Batch(tick(m.pace()), m.refresh(), m.compare())
	case boardMsg:
		m.board = dash.Snapshot(msg)
		m.warn()
		m.meet()
		m.list()
		cmd = m.refresh()
	case outputMsg:
		m.read()
	case followMsg:
		cmd = m.begin(string(msg))
	case contentMsg:
		m.take(msg)
	case savedMsg:
		if msg.id == m.pane.id {
			m.pane.saved = msg.entries
		}
	case changesMsg:
		m.changes, m.compared, m.comparing = msg, m.now, false
	case outcomeMsg:
		m.noteOutcome(msg)
	case attachMsg:
		cmd = m.enter(msg)
	case backMsg:
		if msg.err != nil {
			m.fail("cannot attach to '" + msg.name + "': " + msg.err.Error())
		}
	}
	m.wants = m.wanted()
	return m, tea.Batch(cmd, m.look())
}

// freshFor is how long the age of a worker's state is written anew every second.
const freshFor = 10 * time.Second

// pace is how often ages are written anew.
func (m *model) pace() time.Duration {
	if len(m.shownNote.lines) > 0 {
		return time.Second
	}
	for _, r := range m.shown() {
		if i := r.Item; i != nil {
			c, doing := i.Condition(m.now)
			if doing != "" || c.Kind == condition.Restarting || !c.Since.IsZero() && m.now.Sub(c.Since) < freshFor {
				return time.Second
			}
		}
	}
	return 5 * time.Second
}

func keyOf(r dash.Row) string {
	if r.Item == nil {
		return "\x00" + r.Group
	}
	return r.Group + "\x00" + r.Item.Name
}

// list makes the rows anew. The selected row stays selected.
func (m *model) list() {
	m.rows = dash.Rows(m.board, m.view)
	for id := range m.marks {
		if _, there := m.board.Find(id); !there {
			delete(m.marks, id)
		}
	}
	at := slices.IndexFunc(m.rows, func(r dash.Row) bool { return keyOf(r) == m.selected })
	if at < 0 {
		at = m.at
	}
	m.move(at)
}

func (m *model) move(at int) {
	m.at = max(0, min(at, len(m.rows)-1))
	m.selected = ""
	if m.at < len(m.rows) {
		m.selected = keyOf(m.rows[m.at])
	}
}

// see notes that the person has opened the selected worker or turned to a part of it.
func (m *model) see() {
	m.pass()
	if i := m.item(); i != nil {
		m.opened = i.ID
	}
}

// pass notifies the board that the opened worker was seen, once another one is selected: its row
// stays where it is until then. It reports whether rows may have moved.
func (m *model) pass() bool {
	if i := m.item(); m.opened == "" || i != nil && i.ID == m.opened {
		return false
	}
	m.session.board.See(m.opened)
	m.opened = ""
	m.board = m.session.board.Snapshot()
	m.list()
	return true
}

func (m *model) item() *dash.Item {
	if m.at >= len(m.rows) {
		return nil
	}
	return m.rows[m.at].Item
}

// items returns the workers that a command is meant for: the marked ones, else the
// selected one.
func (m *model) items() []dash.Item {
	i := m.item()
	switch {
	case len(m.marks) > 0:
		return slices.DeleteFunc(slices.Clone(m.board.Items), func(i dash.Item) bool { return !m.marks[i.ID] })
	case i != nil:
		return []dash.Item{*i}
	default:
		return nil
	}
}

func (m *model) shown() []dash.Row {
	height := max(1, m.bodyHeight())
	m.offset = max(0, min(m.offset, len(m.rows)-height))
	m.offset = min(m.offset, m.at)
	if m.at >= m.offset+height {
		m.offset = m.at - height + 1
	}
	return m.rows[m.offset:min(len(m.rows), m.offset+height)]
}

// look starts what the shown workers need, and stops what is needed no more.
func (m *model) look() tea.Cmd {
	m.wantFigures()
	i := m.item()
	if i == nil {
		m.drop()
		return nil
	}
	if m.pane.id == i.ID {
		return m.turn(*i)
	}
	m.drop()
	m.pane = pane{id: i.ID}
	id := i.ID
	return tea.Batch(tea.Tick(settle, func(time.Time) tea.Msg { return followMsg(id) }), m.turn(*i))
}

func (m *model) wantFigures() {
	var ids []string
	for _, r := range m.shown() {
		if r.Item != nil && !r.Item.Gone() {
			ids = append(ids, r.Item.ID)
		}
	}
	m.gauge.Want(ids, m.view.Sort == dash.SortCPU || m.view.Sort == dash.SortMemory)
}

func (m *model) drop() {
	if m.pane.follow != nil {
		m.pane.follow.stop()
	}
	m.pane = pane{}
}

// begin reads the output of a worker that is still selected.
func (m *model) begin(id string) tea.Cmd {
	i := m.item()
	if i == nil || i.ID != id || m.pane.follow != nil {
		return nil
	}
	m.pane.follow = m.follow(id, m.tab(*i) == tabScreen)
	return nil
}

func (m *model) tab(i dash.Item) tab {
	tabs := tabsOf(i)
	if slices.Contains(tabs, m.chosen) {
		return m.chosen
	}
	return tabs[0]
}

// turn shows the tab of the selected worker.
func (m *model) turn(i dash.Item) tea.Cmd {
	at := m.tab(i)
	if m.pane.tab == at {
		return nil
	}
	m.pane.tab, m.pane.entries, m.pane.loaded, m.pane.down, m.pane.back = at, nil, time.Time{}, 0, 0
	if m.pane.err != nil && m.pane.follow == nil {
		m.pane.err = nil
	}
	if m.pane.follow != nil {
		m.pane.follow.Look(at == tabScreen)
	}
	return m.load(i)
}

func (m *model) load(i dash.Item) tea.Cmd {
	if m.pane.tab == tabLog || m.pane.tab == tabScreen || m.pane.loading {
		return nil
	}
	m.pane.loading = true
	if m.pane.tab == tabDetails && m.pane.loaded.IsZero() {
		return tea.Batch(m.session.load(i, m.pane.tab), m.saved(i))
	}
	return m.session.load(i, m.pane.tab)
}

// refresh reads a tab again whose time has come.
func (m *model) refresh() tea.Cmd {
	i := m.item()
	if i == nil || i.ID != m.pane.id {
		return nil
	}
	every := detailsEvery
	if m.pane.tab == tabDiff {
		every = diffEvery
	}
	if m.pane.loaded.IsZero() || m.now.Sub(m.pane.loaded) < every || i.Gone() {
		return nil
	}
	return m.load(*i)
}

// compare looks at the changes of the shown workspaces again, if there is space for them and
// the time has come.
func (m *model) compare() tea.Cmd {
	if m.width < compareWidth || m.zoom || m.comparing || !m.compared.IsZero() && m.now.Sub(m.compared) < compareEvery {
		return nil
	}
	var ws []worker.Worker
	for _, r := range m.shown() {
		if r.Item != nil && r.Item.Workspace != nil {
			ws = append(ws, r.Item.Worker)
		}
	}
	if len(ws) == 0 {
		return nil
	}
	m.comparing = true
	return m.session.compare(ws)
}

func (m *model) take(c contentMsg) {
	if c.id != m.pane.id {
		return
	}
	m.pane.loading = false
	if c.tab != m.pane.tab {
		m.pane.tab = "" // turn reads the one that is wanted now
		return
	}
	m.pane.entries, m.pane.err, m.pane.loaded = c.entries, c.err, m.now
}

func (m *model) read() {
	p := &m.pane
	if p.follow == nil {
		return
	}
	lines, dropped := p.follow.Lines()
	if total := dropped + len(lines); p.back > 0 && total > p.total {
		// The shown lines stay where they are.
		for _, line := range lines[max(0, p.total-dropped):] {
			p.back += len(m.lineRows(line))
		}
	}
	p.lines, p.total, p.earlier = lines, dropped+len(lines), dropped > 0
	p.picture, p.shows = p.follow.Screen()
	over, err := p.follow.Over()
	p.over = over
	if p.tab == tabLog || p.tab == tabScreen {
		p.err = err
	}
}
