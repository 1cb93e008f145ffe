// Package redact masks what identifies a person on a screen: names, addresses, tokens and the ids
// of sessions. A masked text takes as many columns as before, so that frames and menus stay whole.
//
// It finds what the caller names and what has a known form. A person has to read the result
// before it is given to others.
package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/screen"
)

// Known is what is known of a person. Empty texts are ignored.
type Known struct {
	// Home is the home directory, User the name of the user, Host that of the machine.
	Home, User, Host string
	// Secrets are values that must not be shown, such as those of API keys.
	Secrets []string
	// Words are further texts to mask.
	Words []string
}

// common are parts of home directories and names of users and machines that identify no person.
var common = []string{"home", "users", "root", "user", "usr", "var", "tmp", "localhost", "localdomain"}

// form is a kind of text that is masked: all of a match, or its group.
type form struct {
	kind    string
	pattern *regexp.Regexp
	// wraps says that the text may continue in the next line.
	wraps bool
	// text is the text of which a part is masked, too, at the edge of the screen.
	text string
}

// token is the forms of keys and tokens that services give out. The last one is any long text of
// mixed letters and digits.
var token = lazyregexp.New(`\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,}`, `\bgh[pousr]_[A-Za-z0-9]{8,}`, `\bgithub_pat_[A-Za-z0-9_]{8,}`,
	`\b(?:glpat|npm|hf|pypi|xox[abeprs]|ya29)[-_.][A-Za-z0-9_.-]{8,}`, `\bAKIA[0-9A-Z]{12,}`, `\bAIza[0-9A-Za-z_-]{16,}`,
	`\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,2}`)

var (
	long    = lazyregexp.New(`[A-Za-z0-9+_-]{32,}={0,2}`)
	named   = lazyregexp.New(`(?i)\b(?:bearer\s+|(?:[a-z_-]*(?:api[-_]?key|token|password|passwd|secret))["']?\s*[:=]\s*["']?)([^\s"'│┃|]{6,})`)
	inURL   = lazyregexp.New(`://[^/\s:@]+:([^/\s@]+)@`)
	mail    = lazyregexp.New(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b`)
	uuid    = lazyregexp.New(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)
	session = lazyregexp.New(`\b(?:ses|sess|session|msg|req|org|acct|account|user|conv|thread|rollout)[_-][A-Za-z0-9]*\d[A-Za-z0-9]{7,}\b`)
)

// Masker masks texts. It can be used for several screens, one after the other.
type Masker struct {
	forms []form
	// Found is how many texts of each kind were masked.
	Found map[string]int
}

func New(k Known) *Masker {
	m := &Masker{Found: map[string]int{}}
	literal := func(kind, text string, least int, whole, wraps bool) {
		if len(text) < least || slices.Contains(common, strings.ToLower(text)) {
			return
		}
		pattern := regexp.QuoteMeta(text)
		if whole {
			pattern = `(?i)(?:^|[^\pL\pN])(` + pattern + `)(?:$|[^\pL\pN])`
		}
		f := form{kind: kind, pattern: regexp.MustCompile(pattern)}
		if wraps {
			f.text = text
		}
		m.forms = append(m.forms, f)
	}
	for _, text := range k.Secrets {
		literal("secret", text, 6, false, true)
	}
	for _, text := range k.Words {
		literal("word", text, 1, false, false)
	}
	m.forms = append(
		m.forms,
		form{kind: "token", pattern: token(), wraps: true},
		form{kind: "token", pattern: named(), wraps: true},
		form{kind: "token", pattern: inURL()},
		form{kind: "token", pattern: long(), wraps: true},
		form{kind: "e-mail address", pattern: mail()},
		form{kind: "session id", pattern: uuid()},
		form{kind: "session id", pattern: session()},
	)
	for part := range strings.SplitSeq(k.Home, "/") {
		literal("home directory", part, 2, true, false)
	}
	literal("user name", k.User, 2, true, false)
	host, _, _ := strings.Cut(k.Host, ".")
	literal("host name", host, 2, true, false)
	return m
}

// Lines masks the lines of a screen. styled are the same lines with SGR sequences, or nil.
func (m *Masker) Lines(lines, styled []string) (masked, maskedStyled []string) {
	width := 0
	for _, line := range lines {
		width = max(width, ansi.StringWidthWc(line))
	}
	hidden := make([][]bool, len(lines))
	for i, line := range lines {
		hidden[i] = make([]bool, len(line))
	}
	for _, f := range m.forms {
		for i := range lines {
			m.mask(f, lines, hidden, i, width)
		}
	}
	for i, line := range lines {
		masked = append(masked, covered(line, hidden[i]))
	}
	if len(styled) != len(lines) {
		return masked, nil
	}
	for i, line := range styled {
		maskedStyled = append(maskedStyled, coveredStyled(line, lines[i], hidden[i]))
	}
	return masked, maskedStyled
}

// mask hides what a form finds in a line and, if that continues, in the lines below it.
func (m *Masker) mask(f form, lines []string, hidden [][]bool, i, width int) {
	if shown := strings.TrimRight(lines[i], frame); f.text != "" {
		for n := len(f.text) - 1; n >= leastPart; n-- {
			if strings.HasSuffix(shown, f.text[:n]) && ansi.StringWidthWc(shown) >= width-edge {
				m.Found[f.kind]++
				hide(hidden[i], len(shown)-n, len(shown))
				hideRest(lines, hidden, i, len(shown), width)
				break
			}
		}
	}
	for at := 0; at <= len(lines[i]); {
		found := f.pattern.FindStringSubmatchIndex(lines[i][at:])
		if found == nil {
			return
		}
		from, to := at+found[len(found)-2], at+found[len(found)-1]
		at = max(at+1, to)
		text := lines[i][from:to]
		if f.pattern == long() && !random(text) {
			continue
		}
		if !hidden[i][from] {
			m.Found[f.kind]++
		}
		hide(hidden[i], from, to)
		if f.wraps {
			hideRest(lines, hidden, i, to, width)
		}
	}
}

// random reports whether a long text looks like a token: it has letters and several digits.
func random(text string) bool {
	digits, letters := 0, 0
	for _, c := range text {
		if unicode.IsDigit(c) {
			digits++
		} else if unicode.IsLetter(c) {
			letters++
		}
	}
	return digits >= 4 && letters >= 4
}

func hide(hidden []bool, from, to int) {
	for i := from; i < to; i++ {
		hidden[i] = true
	}
}

// leastPart is the length of the shortest part of a text that is recognised at the edge.
const leastPart = 6

// edge is how many columns there may be between a wrapped text and the edge of the screen: a frame
// and blanks.
const edge = 8

const frame = " \t│┃|║▌▐█"

// hideRest hides the rest of a text that ends at the byte to of line i, if the screen may have broken it
// there.
func hideRest(lines []string, hidden [][]bool, i, to, width int) {
	for ; i+1 < len(lines); i++ {
		if strings.Trim(lines[i][to:], frame) != "" || ansi.StringWidthWc(lines[i][:to]) < width-edge {
			return
		}
		next := lines[i+1]
		from := len(next) - len(strings.TrimLeft(next, frame))
		to = from
		for to < len(next) && (next[to] == '-' || next[to] == '_' || next[to] == '.' || next[to] == '=' || next[to] == '+' || next[to] == '/' ||
			'0' <= next[to] && next[to] <= '9' || 'a' <= next[to]|0x20 && next[to]|0x20 <= 'z') {
			to++
		}
		if from == to {
			return
		}
		hide(hidden[i+1], from, to)
	}
}

// covered returns a line with another text of the same width where it is hidden.
func covered(line string, hidden []bool) string {
	var out strings.Builder
	for i, c := range line {
		if !hidden[i] {
			out.WriteRune(c)
			continue
		}
		switch {
		case unicode.IsDigit(c):
			out.WriteByte('0')
		case c == '-', c == '_', c == '.', c == '@', c == '/', c == ' ':
			out.WriteRune(c)
		default:
			out.WriteString(strings.Repeat("x", ansi.StringWidthWc(string(c))))
		}
	}
	return out.String()
}

// coveredStyled is [covered] for a line with SGR sequences that shows the text of line.
func coveredStyled(styled, line string, hidden []bool) string {
	spans := screen.Spans(styled)
	at := 0
	for i, s := range spans {
		end := at + len(s.Text)
		if end > len(hidden) || line[at:end] != s.Text {
			// Both forms differ, which should not be: no text is better than one that is shown.
			return covered(line, hidden)
		}
		spans[i].Text = covered(s.Text, hidden[at:end])
		at = end
	}
	return screen.Render(spans)
}
