package profile

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// rule holds the patterns by which a screen in a certain state is recognised.
type rule struct {
	name  string
	state State
	// in restricts it to one of the regions; empty: the whole screen.
	in string
	// last restricts it to that many of the last lines that are not empty; 0 means all.
	last int
	// from restricts it to the lines after the last match, and above the prompt: those
	// since the last message of a person.
	from *regexp.Regexp
	// prompt makes it match only if the prompt is shown.
	prompt         bool
	all, any, none []*regexp.Regexp
	// styles are those of which the matches of all and any must have one; nil: any.
	styles []style
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
	// submit and text match the labels of choices of these kinds, and hazard those of choices
	// that are never proposed. submitRow matches a row of [KindSubmit] that choice does not
	// match, such as one without a box.
	submit, text, hazard []*regexp.Regexp
	submitRow            *regexp.Regexp
	// dismiss is the key that closes what the rule matches. Such a rule decides no state: it
	// fills in [Look.Dismiss].
	dismiss string
	// spaced says that the rows have an empty line above them, and descriptions have none.
	// described are the styles of descriptions, by which they are known on a screen with
	// styles.
	spaced    bool
	described []style
	// press is the key that checks the box of a selected row; empty: Enter.
	press string
	// choices are offered if no row shows them.
	choices []Choice
	// settle is how long it has to match before it is believed; 0: as long as any other.
	settle time.Duration
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
	v := p.input.view(s)
	if lines, boxed := unboxedScreen(v.lines, p.dialog.box); boxed {
		v = view{lines: lines, prompt: -1}
	}
	l := Look{State: Unknown}
	var trials []Trial
	for i := range p.rules {
		r := &p.rules[i]
		m, why := r.match(v, &p.dialog)
		trials = append(trials, Trial{Rule: r.name, State: r.state, Matched: m != nil, Why: why})
		if m == nil {
			continue
		}
		switch {
		case r.dismiss != "":
			l.Dismiss = cmp.Or(l.Dismiss, r.dismiss)
			continue
		case r.state == Broken:
			l.Broken = cmp.Or(l.Broken, bare(m.evidence))
			continue
		case r.state == Limited:
			l.Limit = cmp.Or(l.Limit, bare(m.evidence))
			continue
		}
		l.State, l.Rule, l.Evidence = r.state, r.name, bare(m.evidence)
		l.Question, l.Choices, l.Dialog, l.Settle = m.question, m.choices, m.dialog, r.settle
		break
	}
	if l.State != Blocked && v.prompt >= 0 && (l.State != Working || !p.input.idleOnly) {
		l.Draft, l.Rows = p.input.draft(v), v.end-v.prompt
		l.Doubtful = l.Draft != "" && len(p.input.looks) > 0 && v.looks == nil
	}
	return l, trials
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
	lo, hi, why := r.region(v, shape)
	if why != "" {
		return nil, why
	}
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
		// Text above a dialog does not belong to it.
		lo = min(max(lo, f.top), hi)
		m.choices, evidence = choices, first
	}
	for _, p := range r.none {
		if i := v.last(p, lo, hi, nil); i >= 0 {
			return nil, fmt.Sprintf("must not be there: %s: %s", p, bare(v.lines[i]))
		}
	}
	for i, p := range r.all {
		at := v.last(p, lo, hi, r.styles)
		if at < 0 {
			return nil, r.missing(fmt.Sprintf("not there: %s", p), v, lo, hi, p)
		}
		if i == 0 {
			evidence = at
		}
	}
	if len(r.any) > 0 {
		found := -1
		for _, p := range r.any {
			found = max(found, v.last(p, lo, hi, r.styles))
		}
		if found < 0 {
			return nil, r.missing(fmt.Sprintf("none of %d patterns matches, such as %s", len(r.any), r.any[0]), v, lo, hi, r.any...)
		}
		if len(r.all) == 0 {
			evidence = found
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

// missing returns why a rule does not match, with the line that has the text of one of the
// patterns in another style.
func (r *rule) missing(why string, v view, lo, hi int, patterns ...*regexp.Regexp) string {
	for _, p := range patterns {
		if i := v.last(p, lo, hi, nil); i >= 0 {
			return fmt.Sprintf("%s; in another style: %s", why, bare(v.lines[i]))
		}
	}
	return why
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

// questionLine ends as a question does, also in a frame.
var questionLine = lazyregexp.New(`\?[\s│┃|]*$`)

// borders are the characters of frames, and the blanks next to them.
const borders = " \t│┃┆┊║▌▐█|╭╮╰╯┌┐└┘├┤╹╻╷╵▀▄─━═"

// bare returns a line without the frame around it.
func bare(line string) string { return strings.Trim(line, borders) }

func group(p *regexp.Regexp, m []string, name string) string {
	if i := p.SubexpIndex(name); i >= 0 {
		return m[i]
	}
	return ""
}
