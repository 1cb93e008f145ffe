package top

import (
	"time"

	"github.com/swarmhost/swarm/shared/safetext"
)

type note struct {
	lines []string
	bad   bool
	at    time.Time
}

// noteShown is how long a message is shown, badShown one about a failure. A key ends both.
const noteShown, badShown = 4 * time.Second, 10 * time.Second

func (m *model) warn() {
	ws := m.board.Warnings
	if n := len(ws); n > 0 && n != m.warned {
		m.fail(ws[n-1])
	}
	m.warned = len(ws)
}

func (m *model) fail(text string) { m.note(true, safetext.Line(text)) }

func (m *model) note(bad bool, lines ...string) {
	m.shownNote = note{lines, bad, m.now}
}

func (m *model) expire() {
	shown := noteShown
	if m.shownNote.bad {
		shown = badShown
	}
	if m.now.Sub(m.shownNote.at) > shown {
		m.shownNote = note{}
	}
}

func (m *model) noteOutcome(o outcomeMsg) {
	var good, lines []string
	bad := false
	for _, out := range o.outcomes {
		if out.Err != nil {
			bad = true
			lines = append(lines, safetext.Line(out.Err.Error()))
		} else {
			good = append(good, out.Name)
		}
		for _, text := range out.Notes {
			lines = append(lines, safetext.Line(out.Name+": "+text))
		}
	}
	switch {
	case len(good) == 1:
		lines = append([]string{o.action.Verb.Past() + " " + safetext.Line(good[0])}, lines...)
	case len(good) > 1:
		lines = append([]string{o.action.Verb.Past() + " " + count(len(good), "worker")}, lines...)
	}
	if len(lines) > 0 {
		if o.skipped != "" {
			lines[0] += "; " + o.skipped
		}
		m.note(bad, lines...)
	}
}
