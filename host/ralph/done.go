package ralph

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// reach is how far back a match may begin: more lines than a pattern spans.
	reach = 4 << 10
	// kept is how much plain output is kept, for matches and their surroundings.
	kept = 16 << 10
	// enough is how many letters around a match prove that it is from the prompt;
	// few is how many are too few to prove anything.
	enough, few = 12, 6
)

// doneMatcher searches the output of an agent for the done pattern. The prompt, which often
// contains a match, is echoed by terminals and shown by agents, wrapped and framed, at any
// time: a match belongs to the prompt if the letters and digits around it equal those
// around a match in the prompt.
type doneMatcher struct {
	pattern *regexp.Regexp
	prompt  []surroundings
	// plain is the end of the finished lines, and judged is how much of it was judged.
	plain  []byte
	judged int
	// bare says that a match with nothing around it has been seen.
	bare bool
}

// surroundings are the letters and digits before and after a match, the nearest
// first.
type surroundings struct{ before, after []rune }

// CompilePattern compiles a pattern for output: ^ and $ are those of lines.
func CompilePattern(pattern string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, err
	}
	re, err := regexp.Compile("(?m:" + pattern + ")")
	if err == nil && re.MatchString("") {
		err = errors.New("it matches where there is nothing")
	}
	return re, err
}

func newDoneMatcher(pattern *regexp.Regexp, prompt []byte) *doneMatcher {
	m := &doneMatcher{pattern: pattern}
	for _, at := range pattern.FindAllIndex(prompt, -1) {
		m.prompt = append(m.prompt, around(prompt, at))
	}
	return m
}

// write takes text that is finished and reports whether the pattern is in a line that
// is complete.
func (m *doneMatcher) write(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	m.plain = append(m.plain, text...)
	found := m.judge(bytes.LastIndexByte(m.plain, '\n')+1, false)
	if drop := len(m.plain) - kept; drop > kept {
		m.plain = append(m.plain[:0], m.plain[drop:]...)
		m.judged = max(0, m.judged-drop)
	}
	return found
}

// shows reports whether the output so far has a match, if nothing more comes. open are the
// unfinished lines: they may be checked again, so this check changes nothing.
func (m *doneMatcher) shows(open []string) bool {
	shown := *m
	shown.plain = append(bytes.Clone(m.plain), strings.Join(open, "\n")...)
	return shown.judge(len(shown.plain), true)
}

// judge checks the output up to end.
func (m *doneMatcher) judge(end int, final bool) bool {
	if end <= m.judged {
		return false
	}
	start := bytes.LastIndexByte(m.plain[:max(0, m.judged-reach)], '\n') + 1
	judged := end
	for _, at := range m.pattern.FindAllIndex(m.plain[start:end], -1) {
		at := []int{at[0] + start, at[1] + start}
		if at[1] <= m.judged {
			continue
		}
		switch m.fromPrompt(at, final) {
		case no:
			return true
		case open:
			judged = min(judged, at[0])
		case yes:
		}
	}
	m.judged = judged
	return false
}

// verdict says whether a match belongs to the prompt.
type verdict int

const (
	no verdict = iota
	yes
	// open: what stands behind it is not there yet.
	open
)

func (m *doneMatcher) fromPrompt(at []int, final bool) verdict {
	got := around(m.plain, at)
	for _, want := range m.prompt {
		before := common(got.before, want.before) == len(want.before)
		same := common(got.after, want.after)
		after := same == len(want.after)
		switch {
		case before && len(want.before) >= few, after && len(want.after) >= few:
			return yes
		case !before || len(want.before) >= few:
			// It is not this one.
		case len(want.before)+len(want.after) == 0:
			// The prompt is nothing but the match: its echo comes first.
			if !m.bare {
				m.bare = true
				return yes
			}
		case after:
			return yes
		case !final && same == len(got.after):
			return open
		}
	}
	return no
}

func around(text []byte, at []int) surroundings {
	var s surroundings
	for rest := text[:at[0]]; len(rest) > 0 && len(s.before) < enough; {
		r, n := utf8.DecodeLastRune(rest)
		rest = rest[:len(rest)-n]
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			s.before = append(s.before, r)
		}
	}
	for rest := text[at[1]:]; len(rest) > 0 && len(s.after) < enough; {
		r, n := utf8.DecodeRune(rest)
		rest = rest[n:]
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			s.after = append(s.after, r)
		}
	}
	return s
}

func common(a, b []rune) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
