package profile

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/sgr"
)

// Screen is the content of a terminal.
type Screen struct {
	// Lines are its lines as text, without colours. Empty lines at the end do not
	// matter.
	Lines []string
	// Styled are the same lines with SGR sequences; nil: how they look is not known, and
	// rules that want a style match without it.
	Styled []string
}

// Text returns the lines as rules read them: with common blanks in the place of those that
// agents write, without blanks at the ends of lines, and without empty lines at the end. A
// text that a rule has found is in one of these lines, though not always in one of Lines.
func (s Screen) Text() []string { return trimmed(s.Lines) }

// blanks makes common blanks of those that agents write. Qwen Code puts a blank without
// width where its cursor is.
var blanks = strings.NewReplacer("\u00a0", " ", "\u200b", "")

// trimmed returns lines without blanks at their ends and without empty ones at the
// end of the screen.
func trimmed(lines []string) []string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		lines[i] = strings.TrimRight(blanks.Replace(line), " \t")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// unboxedScreen returns what is inside of the only box on a screen whose upper edge matches
// edge, with an empty line in the place of each line outside. It reports false if there is no
// such box, or if there are several: then nothing is left out, since what an agent's model
// writes may look like a box too.
func unboxedScreen(lines []string, edge *regexp.Regexp) ([]string, bool) {
	if edge == nil {
		return lines, false
	}
	found := slices.IndexFunc(lines, edge.MatchString)
	if found < 0 {
		return lines, false
	}
	for i, line := range lines {
		if n := len(edge.FindAllStringIndex(line, 2)); n > 1 || n == 1 && i != found {
			return lines, false
		}
	}
	at := edge.FindStringIndex(lines[found])
	left := utf8.RuneCountInString(lines[found][:at[0]])
	right := left + utf8.RuneCountInString(lines[found][at[0]:at[1]]) - 1
	inside := make([]string, len(lines))
	for i := found + 1; i < len(lines); i++ {
		letters := []rune(lines[i])
		switch {
		case len(letters) <= right:
			return lines, false
		case letters[left] == '╰' && letters[right] == '╯':
			return inside[:i], true
		case letters[left] != '│' || letters[right] != '│':
			return lines, false
		}
		inside[i] = strings.TrimRight(string(letters[left+1:right]), " ")
	}
	return lines, false
}

// looks are the styles of the letters of a screen.
type looks struct {
	// lines are the lines as rules read them, and styled those with SGR sequences.
	lines, styled []string
	spans         map[int][]screen.Span
}

// newLooks returns the styles of a screen, nil if it has none: those of a program that uses
// no colours say nothing.
func newLooks(s Screen, lines []string) *looks {
	if len(s.Styled) != len(s.Lines) || !slices.ContainsFunc(s.Styled, func(line string) bool { return strings.Contains(line, "\x1b[") }) {
		return nil
	}
	return &looks{lines: lines, styled: s.Styled, spans: make(map[int][]screen.Span)}
}

// of returns the parts of a line, whose text together is the line as rules read it.
func (l *looks) of(i int) []screen.Span {
	spans, ok := l.spans[i]
	if !ok {
		for _, s := range screen.Spans(l.styled[i]) {
			s.Text = blanks.Replace(s.Text)
			spans = append(spans, s)
		}
		l.spans[i] = spans
	}
	return spans
}

// has reports whether every letter between two bytes of a line has one of the styles. A
// line that does not have the text of the other form of the screen has none.
func (l *looks) has(i, from, to int, styles []style) bool {
	at := 0
	for _, s := range l.of(i) {
		begin, end := max(from, at), min(to, at+len(s.Text))
		if begin < end {
			if part := s.Text[begin-at : end-at]; part != l.lines[i][begin:min(end, len(l.lines[i]))] {
				return false
			} else if strings.TrimSpace(part) != "" && !slices.ContainsFunc(styles, func(want style) bool { return want.matches(s.Style) }) {
				return false
			}
		}
		at += len(s.Text)
	}
	return at >= to
}

// matches reports whether a pattern matches a line with one of the styles: all of the match,
// or its group "styled" if it has one. Without styles, or if the screen has none, any match
// counts.
func (v *view) matches(p *regexp.Regexp, i int, styles []style) bool {
	line := v.lines[i]
	if len(styles) == 0 || v.looks == nil {
		return p.MatchString(line)
	}
	group := 2 * max(0, p.SubexpIndex("styled"))
	return slices.ContainsFunc(p.FindAllStringSubmatchIndex(line, -1), func(m []int) bool {
		return m[group] >= 0 && v.looks.has(i, m[group], m[group+1], styles)
	})
}

// last returns the last line from lo to hi that a pattern matches with one of the styles, or
// -1.
func (v *view) last(p *regexp.Regexp, lo, hi int, styles []style) int {
	for i := hi - 1; i >= lo; i-- {
		if v.matches(p, i, styles) {
			return i
		}
	}
	return -1
}

// style is what a rule wants of the letters that it matches.
type style struct {
	has, lacks []string
	// text and back are the possible colours; nil: any.
	text, back []string
}

func (s style) matches(shown sgr.Style) bool {
	return !slices.ContainsFunc(s.has, func(a string) bool { return !shown.Has(a) }) &&
		!slices.ContainsFunc(s.lacks, shown.Has) &&
		(s.text == nil || slices.Contains(s.text, shown.Text.Name())) &&
		(s.back == nil || slices.Contains(s.back, shown.Back.Name()))
}

// style reads a style such as "dim !bold fg=red|orange".
func (r *reader) style(key, text string) style {
	var s style
	colours := func(names string) []string {
		all := strings.Split(names, "|")
		for _, name := range all {
			if !slices.Contains(sgr.Names, name) {
				r.wrong(key, "expected colours such as fg=red|orange out of %s, got %q", strings.Join(sgr.Names, ", "), name)
			}
		}
		return all
	}
	attribute := func(name string) string {
		if !slices.Contains(sgr.Attributes, name) {
			r.wrong(key, "expected fg=COLOUR, bg=COLOUR or one of %s, such as \"dim\" or \"!dim\", got %q", strings.Join(sgr.Attributes, ", "), name)
		}
		return name
	}
	for word := range strings.FieldsSeq(text) {
		if names, ok := strings.CutPrefix(word, "fg="); ok {
			s.text = colours(names)
		} else if names, ok := strings.CutPrefix(word, "bg="); ok {
			s.back = colours(names)
		} else if name, ok := strings.CutPrefix(word, "!"); ok {
			s.lacks = append(s.lacks, attribute(name))
		} else {
			s.has = append(s.has, attribute(word))
		}
	}
	if len(s.has)+len(s.lacks)+len(s.text)+len(s.back) == 0 {
		r.wrong(key, "an empty style matches everything")
	}
	return s
}

func (r *reader) styles(key string, texts []string) []style {
	var all []style
	for _, text := range texts {
		all = append(all, r.style(key, text))
	}
	return all
}
