package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// rule holds the patterns by which a screen in a certain state is recognised.
type rule struct {
	name  string
	state State
	// last restricts it to that many of the last lines that are not empty; 0 means all.
	last int
	// from restricts it to the lines after the last match, and above the prompt: those
	// since the last message of a person.
	from *regexp.Regexp
	// prompt makes it match only if the prompt is shown.
	prompt         bool
	all, any, none []*regexp.Regexp
	// question and title match lines of the dialog outside of its command: question the
	// last one, right above the choices, and title the first one, which counts if there is
	// no command.
	question, title []*regexp.Regexp
	// first matches the first line of the dialog that is not empty, which must be on the
	// screen; nil matches any.
	first *regexp.Regexp
	// command says where the dialog shows what it wants to run; the first pair that finds
	// something counts.
	command []between
	// choice matches a row of a menu. A rule that has it matches only a menu at the
	// bottom of the screen, with at most below lines under it, one of which matches
	// footer.
	choice *regexp.Regexp
	below  int
	footer []*regexp.Regexp
	// choices are offered if no row shows them.
	choices []Choice
	// settle is how long it has to match before it is believed; 0: as long as any other.
	settle time.Duration
}

type input struct {
	// prompt matches the line that text is typed at; its group "draft" is the text.
	prompt *regexp.Regexp
	// above matches one of the near lines above it, end the line below it that ends the
	// draft; nil matches any.
	above, end *regexp.Regexp
	near       int
	// footer matches the first line below end. It ends a draft that itself has lines like
	// end.
	footer *regexp.Regexp
	// open is how many lines of a draft may be at the bottom of the screen without an end
	// below them, since a long draft leaves no room for it.
	open int
	// below is how many lines that are not empty may follow that.
	below int
	// hints match the text of an empty prompt.
	hints []*regexp.Regexp
	// pasted match the placeholder of a long text.
	pasted []*regexp.Regexp
}

// view is a screen as rules see it.
type view struct {
	lines []string
	// prompt and end are the first line of the prompt and the one after its draft;
	// prompt is -1 if none is shown.
	prompt, end int
}

func (in *input) view(lines []string) view {
	v := view{lines: trimmed(lines), prompt: -1}
	if in.prompt == nil {
		return v
	}
	for i, line := range slices.Backward(v.lines) {
		if !in.prompt.MatchString(line) || in.above != nil && !matchesOne(in.above, v.lines[max(0, i-in.near):i]) {
			continue
		}
		end, ok := in.endOf(v.lines, i)
		if !ok {
			continue
		}
		if filled(v.lines[end:]) <= in.below+1 { // the line of the end
			v.prompt, v.end = i, end
		}
		return v
	}
	return v
}

// endOf returns the index of the line below the draft of a prompt, and whether there is
// one.
func (in *input) endOf(lines []string, prompt int) (int, bool) {
	first := prompt + 1
	if in.end == nil {
		return first, true
	}
	for first < len(lines) && !in.end.MatchString(lines[first]) {
		first++
	}
	if first == len(lines) {
		return first, in.open > 0 && first-prompt >= in.open
	}
	for end := len(lines) - 2; in.footer != nil && end > first; end-- {
		if in.end.MatchString(lines[end]) && in.footer.MatchString(lines[end+1]) {
			return end, true
		}
	}
	return first, true
}

func firstFilled(lines []string) string {
	if i := slices.IndexFunc(lines, func(line string) bool { return line != "" }); i >= 0 {
		return lines[i]
	}
	return ""
}

func filled(lines []string) int {
	n := 0
	for _, line := range lines {
		if line != "" {
			n++
		}
	}
	return n
}

// Trial is the result of one rule.
type Trial struct {
	Rule  string `json:"rule"`
	State State  `json:"state"`
	// Matched reports whether the rule matched. The rules after the first that decides the
	// state are not tried.
	Matched bool `json:"matched"`
	// Why names the match, or the missing part.
	Why string `json:"why"`
}

// Look reads the state of the agent off its screen.
func (p *Profile) Look(s Screen) Look {
	l, _ := p.Explain(s)
	return l
}

// Explain is [Profile.Look] that also returns the tried rules, in their order.
func (p *Profile) Explain(s Screen) (Look, []Trial) {
	v := p.input.view(s.Lines)
	l := Look{State: Unknown}
	var trials []Trial
	for i := range p.rules {
		r := &p.rules[i]
		m, why := r.match(v, &p.dialog)
		trials = append(trials, Trial{Rule: r.name, State: r.state, Matched: m != nil, Why: why})
		if m == nil {
			continue
		}
		if r.state == Broken && l.Broken == "" {
			l.Broken = bare(m.evidence)
		}
		if r.state == Limited && l.Limit == "" {
			l.Limit = bare(m.evidence)
		}
		if r.state == Broken || r.state == Limited {
			continue
		}
		l.State, l.Rule, l.Evidence = r.state, r.name, bare(m.evidence)
		l.Question, l.Choices, l.Dialog, l.Settle = m.question, m.choices, m.dialog, r.settle
		break
	}
	if l.State != Blocked && v.prompt >= 0 {
		l.Draft, l.Rows = p.input.draft(v), v.end-v.prompt
	}
	return l, trials
}

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

type match struct {
	evidence string
	question string
	choices  []Choice
	dialog   Dialog
}

// match returns the result of a rule, or nil, and the reason.
func (r *rule) match(v view, shape *dialogShape) (*match, string) {
	if r.prompt && v.prompt < 0 {
		return nil, "no prompt is shown"
	}
	m := &match{choices: r.choices}
	lo, hi := r.region(v)
	var f frame
	evidence := -1
	if r.prompt {
		evidence = v.prompt
	}
	if r.choice != nil {
		first, last, choices, why := r.menu(v)
		if why != "" {
			return nil, why
		}
		f = r.frame(v.lines, shape, first, last)
		if r.first != nil && (f.cut || !r.first.MatchString(firstFilled(v.lines[f.top:f.menu]))) {
			return nil, fmt.Sprintf("not the first line of the dialog: %s", r.first)
		}
		// What is printed above a dialog is no part of it.
		lo = max(lo, f.top)
		m.choices, evidence = choices, first
	}
	region := v.lines[min(lo, hi):hi]
	for _, p := range r.none {
		if i := slices.IndexFunc(region, p.MatchString); i >= 0 {
			return nil, fmt.Sprintf("must not be there: %s: %s", p, bare(region[i]))
		}
	}
	for i, p := range r.all {
		at := lastIndex(region, p)
		if at < 0 {
			return nil, fmt.Sprintf("not there: %s", p)
		}
		if i == 0 {
			evidence = lo + at
		}
	}
	if len(r.any) > 0 {
		found := -1
		for _, p := range r.any {
			if at := lastIndex(region, p); at > found {
				found = at
			}
		}
		if found < 0 {
			return nil, fmt.Sprintf("none of %d patterns matches, such as %s", len(r.any), r.any[0])
		}
		if len(r.all) == 0 {
			evidence = lo + found
		}
	}
	if evidence >= 0 {
		m.evidence = v.lines[evidence]
	}
	if r.state == Blocked {
		if r.choice == nil {
			f = r.frame(v.lines, shape, max(evidence, 0), max(evidence, 0))
			if shape.isZero() {
				f.top = min(lo, f.menu)
			}
		}
		m.question, m.dialog = r.read(v.lines, f, shape)
		if m.question == "" {
			m.question = bare(m.evidence)
		}
	}
	return m, "matched: " + bare(m.evidence)
}

// region returns the range of the lines to which the rule applies.
func (r *rule) region(v view) (lo, hi int) {
	hi = len(v.lines)
	if r.from != nil {
		if v.prompt >= 0 {
			hi = v.prompt
		}
		lo = lastIndex(v.lines[:hi], r.from) + 1
	}
	if r.last == 0 {
		return lo, hi
	}
	left := r.last
	for i := hi - 1; i >= lo; i-- {
		if v.lines[i] == "" {
			continue
		}
		if left--; left == 0 {
			return i, hi
		}
	}
	return lo, hi
}

func matchesOne(p *regexp.Regexp, lines []string) bool { return lastIndex(lines, p) >= 0 }

func lastIndex(lines []string, p *regexp.Regexp) int {
	for i, line := range slices.Backward(lines) {
		if p.MatchString(line) {
			return i
		}
	}
	return -1
}

// maxGap is how many lines may be between two rows of a menu: descriptions and
// labels of several lines.
const maxGap = 4

// menu returns the indexes of the first and the last row of the menu at the bottom of the
// screen and its choices, or the reason why there is none.
func (r *rule) menu(v view) (first, last int, choices []Choice, why string) {
	last = len(v.lines) - 1
	for ; last >= 0; last-- {
		m := r.choice.FindStringSubmatch(v.lines[last])
		// Of rows without keys only the selected one is known by itself.
		if m != nil && (r.keyed() || group(r.choice, m, "selected") != "") {
			break
		}
	}
	if last < 0 {
		return 0, 0, nil, fmt.Sprintf("no menu: %s", r.choice)
	}
	if r.keyed() {
		first, choices = r.keyedRows(v.lines, last)
	} else {
		first, last, choices = r.alignedRows(v.lines, last)
	}
	under := v.lines[last+1:]
	switch {
	case v.prompt > last:
		return 0, 0, nil, "the prompt is below the menu: " + bare(v.lines[v.prompt])
	case filled(under) > r.below:
		return 0, 0, nil, fmt.Sprintf("%d lines are below the menu, which is not the bottom of the screen", filled(under))
	case r.choice.SubexpIndex("selected") >= 0 && !slices.ContainsFunc(choices, func(c Choice) bool { return c.Selected }):
		return 0, 0, nil, "no row of the menu is selected: " + bare(v.lines[first])
	case len(r.footer) > 0 && !slices.ContainsFunc(under, func(line string) bool { return matchesAny(r.footer, line) }):
		return 0, 0, nil, fmt.Sprintf("not below the menu: %s", r.footer[0])
	}
	return first, last, choices, ""
}

// keyed reports whether the rows of menus begin with a key.
func (r *rule) keyed() bool { return r.choice.SubexpIndex("key") >= 0 }

func (r *rule) row(line string) (Choice, bool) {
	m := r.choice.FindStringSubmatch(line)
	if m == nil {
		return Choice{}, false
	}
	return Choice{Key: group(r.choice, m, "key"), Label: bare(group(r.choice, m, "label")), Selected: group(r.choice, m, "selected") != ""}, true
}

// keyedRows returns the rows of a menu that ends at last.
func (r *rule) keyedRows(lines []string, last int) (first int, choices []Choice) {
	for at, gap := last, 0; at >= 0 && gap <= maxGap; at-- {
		c, ok := r.row(lines[at])
		if !ok {
			gap++
			continue
		}
		if len(choices) > 0 && !before(c.Key, choices[0].Key) {
			break // a list above the menu
		}
		if c.Key == "0" && gap > 0 {
			break // menus begin with 1: the end of such a list
		}
		choices, first, gap = slices.Insert(choices, 0, c), at, 0
	}
	return first, choices
}

// alignedRows returns the rows of a menu without keys around its selected row: those
// whose labels begin in the same column. Lines that are further in are descriptions.
func (r *rule) alignedRows(lines []string, selected int) (first, last int, choices []Choice) {
	label := r.choice.SubexpIndex("label")
	column := func(line string) int {
		m := r.choice.FindStringSubmatchIndex(line)
		if m == nil || m[2*label] < 0 {
			return -1
		}
		return utf8.RuneCountInString(line[:m[2*label]])
	}
	want := column(lines[selected])
	c, _ := r.row(lines[selected])
	choices, first, last = []Choice{c}, selected, selected
	for at := selected - 1; at >= 0 && column(lines[at]) >= want; at-- {
		if column(lines[at]) == want {
			c, _ := r.row(lines[at])
			choices, first = slices.Insert(choices, 0, c), at
		}
	}
	for at := selected + 1; at < len(lines) && column(lines[at]) >= want; at++ {
		if column(lines[at]) == want {
			c, _ := r.row(lines[at])
			choices, last = append(choices, c), at
		}
	}
	return first, last, choices
}

// before reports whether a row with key a may be right above the one with key b. Keys other
// than digits may be in any order.
func before(a, b string) bool {
	if len(a) == 1 && len(b) == 1 && a[0] >= '0' && a[0] <= '9' && b[0] >= '0' && b[0] <= '9' {
		return a[0]+1 == b[0]
	}
	return true
}

// questionLine ends as a question does, also in a frame.
var questionLine = lazyregexp.New(`\?[\s│┃|]*$`)

// borders are the characters of frames, and the blanks beside them.
const borders = " \t│┃┆┊║▌▐█|╭╮╰╯┌┐└┘├┤╹╻╷╵▀▄─━═"

// bare returns a line without the frame around it.
func bare(line string) string { return strings.Trim(line, borders) }

func group(p *regexp.Regexp, m []string, name string) string {
	if i := p.SubexpIndex(name); i >= 0 {
		return m[i]
	}
	return ""
}

func (in *input) draft(v view) string {
	if v.prompt < 0 {
		return ""
	}
	m := in.prompt.FindStringSubmatch(v.lines[v.prompt])
	draft := []string{bare(group(in.prompt, m, "draft"))}
	for _, line := range v.lines[v.prompt+1 : v.end] {
		draft = append(draft, bare(line))
	}
	text := strings.TrimSpace(strings.Join(draft, "\n"))
	if matchesAny(in.hints, text) {
		return ""
	}
	return text
}
