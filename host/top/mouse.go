package top

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	// wheelRows is how far one step of the wheel moves.
	wheelRows = 3
	// doubleClick is how soon the second click must follow.
	doubleClick = 400 * time.Millisecond
)

// click selects what is below the mouse. A double click opens it.
func (m *model) click(c tea.MouseClickMsg) tea.Cmd {
	if c.Button != tea.MouseLeft {
		return nil
	}
	switch m.mode {
	case modeHelp:
		m.mode = modeList
		return nil
	case modeFilter:
		m.mode = modeList
	case modeText, modePalette, modeConfirm:
		return nil
	case modeList:
	}
	if c.Y == m.height-1 {
		for _, s := range m.frame.hints {
			if c.X >= s.from && c.X < s.to {
				return s.key.do(m)
			}
		}
		return nil
	}
	if c.Y == 1 {
		for _, s := range m.frame.tabs {
			if c.X >= s.from && c.X < s.to {
				m.chosen = s.tab
				m.see()
			}
		}
		return nil
	}
	row := c.Y - headRows
	if row < 0 || row >= m.bodyHeight() || c.X >= m.frame.left || m.offset+row >= len(m.rows) {
		return nil
	}
	again := m.at == m.offset+row && m.now.Sub(m.clicked) < doubleClick
	m.clicked = m.now
	m.move(m.offset + row)
	m.pass()
	if m.item() == nil || again {
		return m.open()
	}
	return nil
}

func (m *model) wheel(w tea.MouseWheelMsg) tea.Cmd {
	n := 0
	switch w.Button {
	case tea.MouseWheelUp:
		n = -1
	case tea.MouseWheelDown:
		n = 1
	default:
		return nil
	}
	if m.mode != modeList {
		return nil
	}
	if w.X < m.frame.left {
		return m.step(n)
	}
	return m.scroll(n * wheelRows)
}
