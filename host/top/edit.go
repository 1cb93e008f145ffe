package top

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/swarmhost/swarm/shared/safetext"
)

const maxInput = 4000

type editor struct {
	text []rune
	at   int
}

func (e *editor) set(s string) { e.text, e.at = []rune(s), len([]rune(s)) }

func (e *editor) value() string { return string(e.text) }

// insert adds text at the cursor: on one line, and nothing that can't be seen.
func (e *editor) insert(s string) {
	var fresh []rune
	for _, r := range strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(s) {
		if !safetext.IsHidden(r) && r != unicode.ReplacementChar {
			fresh = append(fresh, r)
		}
	}
	fresh = fresh[:min(len(fresh), max(0, maxInput-len(e.text)))]
	e.text = append(e.text[:e.at:e.at], append(fresh, e.text[e.at:]...)...)
	e.at += len(fresh)
}

// key takes a key and reports whether it was one of the editor's.
func (e *editor) key(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "left", "ctrl+b":
		e.at = max(0, e.at-1)
	case "right", "ctrl+f":
		e.at = min(len(e.text), e.at+1)
	case "home", "ctrl+a":
		e.at = 0
	case "end", "ctrl+e":
		e.at = len(e.text)
	case "backspace", "ctrl+h":
		e.remove(max(0, e.at-1), e.at)
	case "delete", "ctrl+d":
		e.remove(e.at, min(len(e.text), e.at+1))
	case "ctrl+u":
		e.remove(0, e.at)
	case "ctrl+k":
		e.remove(e.at, len(e.text))
	case "ctrl+w", "alt+backspace":
		from := e.at
		for from > 0 && e.text[from-1] == ' ' {
			from--
		}
		for from > 0 && e.text[from-1] != ' ' {
			from--
		}
		e.remove(from, e.at)
	default:
		if k.Text == "" {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

func (e *editor) remove(from, to int) {
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.at = from
}

// view returns the part of the text around the cursor that fits, and the cursor's column.
func (e *editor) view(width int) (text string, column int) {
	from := 0
	for widthOf(string(e.text[from:e.at])) >= width && from < e.at {
		from++
	}
	text = ""
	if rows := rowsOf(string(e.text[from:]), width, 1); len(rows) > 0 {
		text = rows[0]
	}
	return text, widthOf(string(e.text[from:e.at]))
}
