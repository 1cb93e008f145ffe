package screen

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/sgr"
)

// Span is a part of a line whose letters look the same.
type Span struct {
	Text  string
	Style sgr.Style
}

// Spans returns the parts of a line with SGR sequences. The line begins in the terminal's
// own style. Other sequences, and control characters other than the tab, are left out.
func Spans(line string) []Span {
	var spans []Span
	scan(line, func(text string, st sgr.Style) {
		if n := len(spans); n > 0 && spans[n-1].Style == st {
			spans[n-1].Text += text
			return
		}
		spans = append(spans, Span{text, st})
	})
	return spans
}

// Styled returns the lines of a text with SGR sequences in which a style continues in the next
// line, as 'tmux capture-pane -e' prints it. Each returned line stands for itself: it begins
// in the terminal's own style and returns to it, and it has no other sequences than SGR.
// Blanks at the ends of lines are left out.
func Styled(text string) []string {
	var lines []string
	var line []Span
	end := func() {
		lines = append(lines, Render(line))
		line = line[:0]
	}
	scan(text, func(part string, st sgr.Style) {
		for {
			before, after, found := strings.Cut(part, "\n")
			if before != "" {
				line = append(line, Span{before, st})
			}
			if !found {
				return
			}
			end()
			part = after
		}
	})
	end()
	return lines
}

// Plain returns a line without its sequences and control characters other than the tab.
func Plain(line string) string {
	if strings.IndexFunc(line, isControl) < 0 {
		return line
	}
	var text strings.Builder
	scan(line, func(part string, _ sgr.Style) { text.WriteString(part) })
	return text.String()
}

func isControl(c rune) bool { return c < 0x20 && c != '\t' || c == 0x7f }

// Render returns a line with SGR sequences that [Spans] takes apart again. Blanks at its end are
// left out.
func Render(line []Span) string {
	line = slices.Clone(line)
	for n := len(line); n > 0; n = len(line) {
		line[n-1].Text = strings.TrimRight(line[n-1].Text, " ")
		if line[n-1].Text != "" {
			break
		}
		line = line[:n-1]
	}
	var out []byte
	var now sgr.Style
	for _, s := range line {
		out = append(s.Style.Append(out, now), s.Text...)
		now = s.Style
	}
	return string(sgr.Style{}.Append(out, now))
}

// scan calls add with each piece of a text that is not empty, and its style.
func scan(text string, add func(text string, st sgr.Style)) {
	var st sgr.Style
	for text != "" {
		n := strings.IndexFunc(text, func(c rune) bool { return isControl(c) && c != '\n' })
		if n < 0 {
			n = len(text)
		}
		if n > 0 {
			add(text[:n], st)
		}
		text = text[n:]
		if text == "" {
			return
		}
		size, params, isSGR := sequenceAt(text)
		if isSGR {
			st.Change(params)
		}
		text = text[size:]
	}
}

// sequenceAt returns the size of the control character or sequence that a text begins with,
// and its parameters if it is SGR.
func sequenceAt(text string) (size int, params sgr.Params, isSGR bool) {
	if text[0] != 0x1b || len(text) == 1 {
		return 1, nil, false
	}
	switch text[1] {
	case '[':
		other := false // it has bytes that SGR has not
		for i := 2; i < len(text); i++ {
			switch b := text[i]; {
			case b >= '0' && b <= ';':
				params.Add(b)
			case b >= 0x40 && b <= 0x7e:
				return i + 1, params, b == 'm' && !other
			case b >= '<' && b <= '?', b >= 0x20 && b <= '/':
				other = true
			default:
				return i, nil, false // not a sequence
			}
		}
		return len(text), nil, false
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(text); i++ {
			switch {
			case text[i] == '\a':
				return i + 1, nil, false
			case text[i] == '\n':
				return i, nil, false
			case strings.HasPrefix(text[i:], "\x1b\\"):
				return i + 2, nil, false
			}
		}
		return len(text), nil, false
	}
	i := 1
	for i < len(text) && text[i] >= 0x20 && text[i] <= '/' {
		i++
	}
	if i == len(text) {
		return i, nil, false
	}
	_, n := utf8.DecodeRuneInString(text[i:])
	if text[i] == '\n' {
		n = 0
	}
	return i + n, nil, false
}
