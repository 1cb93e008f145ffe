package profile

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

// State is what an agent does, as far as its screen and its hooks report it.
type State string

const (
	// Working means that the agent works on something.
	Working State = "working"
	// Idle means that the agent waits at its prompt.
	Idle State = "idle"
	// Blocked means that the agent asks something and takes no other input.
	Blocked State = "blocked"
	// Background means that the agent's turn has ended while work that it started runs on,
	// such as a shell or another agent. The agent continues when that work ends.
	Background State = "background"
	// Compacting means that the agent summarizes its conversation. It takes no new turn
	// until it has finished.
	Compacting State = "compacting"
	// Limited means that the agent stopped at a usage limit. A rule of this state fills in
	// [Look.Limit], and the rules after it decide the state of the screen.
	Limited State = "limited"
	// Broken means that the agent stopped with an error, or needs a sign-in. A rule of this
	// state fills in [Look.Broken], and the rules after it decide the state of the screen.
	Broken State = "broken"
	// Unknown means that no rule matched.
	Unknown State = "unknown"
)

// States returns all states of agents, in the order of their constants.
func States() []State {
	return []State{Working, Idle, Blocked, Background, Compacting, Limited, Broken, Unknown}
}

// ChoiceKind is what picking a choice does.
type ChoiceKind string

const (
	// KindOption is one of the answers; with a box, picking it checks or clears that.
	KindOption ChoiceKind = ""
	// KindSubmit sends what is checked, or continues to the next question.
	KindSubmit ChoiceKind = "submit"
	// KindText is a field for a text of one's own.
	KindText ChoiceKind = "text"
)

// Choice is one of the answers that a dialog offers.
type Choice struct {
	// Key is the key that picks it, such as "1", or several keys one after the other, such
	// as "Right Enter". If it is empty, the selection has to be moved to the choice and
	// confirmed with Enter.
	Key string `json:"key"`
	// Label is the text next to it.
	Label string `json:"label"`
	// Selected reports whether Enter takes it, as far as text shows that.
	Selected bool `json:"selected"`
	// Kind is what picking it does.
	Kind ChoiceKind `json:"kind,omitempty"`
	// Checked reports whether its box is checked; nil: it has no box. Of a dialog with
	// boxes several choices can be checked, which a choice of [KindSubmit] sends.
	Checked *bool `json:"checked,omitempty"`
	// Press is the key that takes it once it is selected; empty: Enter.
	Press string `json:"press,omitempty"`
	// Hazard reports whether it must not be proposed as the usual answer, such as one that
	// ends the agent or installs another version of it.
	Hazard bool `json:"hazard,omitempty"`
}

// yes and no are the values of [Choice.Checked], so that equal choices are equal in Go.
var yes, no = new(true), new(false)

// Look is the result of reading a screen with a profile.
type Look struct {
	State State
	// Rule is the name of the rule that decided the state; empty if none matched.
	Rule string
	// Evidence is the line that matched.
	Evidence string
	// Question is the question of a blocked agent and what it wants to run, on one line. "⏎"
	// is where the screen begins a new line.
	Question string
	// Choices are the answers that a blocked agent offers, in their order; nil if
	// they are not known.
	Choices []Choice
	// Dialog is the whole of what a blocked agent shows; its zero value: nothing is known of
	// it.
	Dialog Dialog
	// Broken is the text of an error that the screen shows.
	Broken string
	// Limit is the text of a usage limit that the screen shows.
	Limit string
	// Dismiss is the key that closes something above the prompt which would take what is typed
	// there, such as a survey whose answers are digits; empty: nothing does.
	Dismiss string
	// Draft is the text at the prompt that was not submitted; empty if there is none or it
	// is unknown.
	Draft string
	// Doubtful reports whether Draft may be a text that the agent proposes: it shows those in
	// a style of their own, and how this screen looks is not known.
	Doubtful bool
	// Rows is how many lines of the screen the prompt has; empty ones count. It is 0 if no
	// prompt is shown.
	Rows int
	// Settle is how long the rule wants to match before it is believed; 0: as long as any
	// other, see [Profile.Settle].
	Settle time.Duration
}

// Trouble returns the text of the limit or else of the error that the screen shows; empty:
// none.
func (l Look) Trouble() string { return cmp.Or(l.Limit, l.Broken) }

// Proposed returns the choice that a hint on how to answer can name, and whether there is one:
// the first that is an option and does no harm if it is taken without much thought.
func Proposed(choices []Choice) (Choice, bool) {
	for _, c := range choices {
		if c.Kind == KindOption && !c.Hazard && c.Checked == nil {
			return c, true
		}
	}
	return Choice{}, false
}

// IndexKind returns the position of the first choice of a kind; -1 if there is none.
func IndexKind(choices []Choice, kind ChoiceKind) int {
	return slices.IndexFunc(choices, func(c Choice) bool { return c.Kind == kind })
}

// ChoiceLines returns choices in words, each with its key.
func ChoiceLines(choices []Choice) (lines []string) {
	for _, c := range choices {
		lines = append(lines, strings.TrimSpace(c.Key+" "+c.Label))
	}
	return lines
}

// HasBoxes reports whether a dialog has choices with boxes, of which several are sent together.
func HasBoxes(choices []Choice) bool {
	return slices.ContainsFunc(choices, func(c Choice) bool { return c.Checked != nil })
}

// ChoicesNamed returns the choices with a key; without any those with a label, and then those
// whose label begins with the text, in any case.
func ChoicesNamed(choices []Choice, text string) (found []Choice) {
	for _, same := range []func(c Choice) bool{
		func(c Choice) bool { return strings.EqualFold(c.Key, text) },
		func(c Choice) bool { return strings.EqualFold(c.Label, text) },
		func(c Choice) bool {
			return text != "" && strings.HasPrefix(strings.ToLower(c.Label), strings.ToLower(text))
		},
	} {
		for _, c := range choices {
			if same(c) {
				found = append(found, c)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// minPasteGuard is the least pause between a text and Enter. Codex takes an Enter
// within about 120 ms after a burst as part of a paste.
const minPasteGuard = 150 * time.Millisecond

// Profile describes one agent. It can be used by several goroutines.
type Profile struct {
	file  file
	rules []rule
	input input
	// dialog says how dialogs are framed.
	dialog dialogShape
	// Source is the user's own file that the profile was read from; empty: it is in a bundle.
	Source string
	// Installed reports whether the profile, or the one that it extends, is in the installed
	// bundle, and not in the built-in one.
	Installed bool
	bundle    func() string
	// Override is what a profile that extends another one changes of it; nil: it extends none.
	Override *Override
	// Text is the profile as TOML.
	Text string
}

func (p *Profile) Name() string { return p.file.Name }

// Bundle returns the version of the bundle that has the profile, or the profile that it extends;
// empty: neither is in a bundle.
func (p *Profile) Bundle() string {
	if p.bundle == nil {
		return ""
	}
	return p.bundle()
}

// Title returns the name of the agent for people, such as "Claude Code".
func (p *Profile) Title() string { return p.file.Title }

// Recognised returns how the profile is recognised, for people: the names of
// programs, packages and parts of paths.
func (p *Profile) Recognised() []string {
	m := p.file.Match
	return slices.Concat(m.Programs, m.Packages, m.Paths)
}

// Bare reports whether the profile is only of its program without a script: a shell,
// which runs anything while it is not at its prompt.
func (p *Profile) Bare() bool { return p.file.Match.Bare }

// Flags are arguments that an interactive agent needs when swarm starts it.
func (p *Profile) Flags() []string { return p.file.Run.Flags }

// Env names the variables that the agent needs from the environment of a person, such
// as API keys. A name that ends in "*" stands for all that begin so.
func (p *Profile) Env() []string { return p.file.Run.Env }

// HeadlessCommand returns the command that works on one prompt and ends, or nil if the
// agent has none.
func (p *Profile) HeadlessCommand() []string { return p.file.Run.Headless }

// ResumeCommand returns the command that continues the conversation of a session; nil:
// the agent can't.
func (p *Profile) ResumeCommand(session string) []string {
	return withSession(p.file.Run.Resume, session)
}

// PasteGuard returns the least pause between a text and the Enter that submits it.
func (p *Profile) PasteGuard() time.Duration {
	return max(minPasteGuard, time.Duration(p.file.Input.PasteGuard)*time.Millisecond)
}

// minSettle is the shortest time for which a prompt has to be shown: agents draw it between
// two steps, and before a dialog.
const minSettle = 300 * time.Millisecond

// Settle returns how long the agent has to show what it shows before that is believed.
func (p *Profile) Settle(l Look) time.Duration {
	return max(minSettle, time.Duration(p.file.Input.Settle)*time.Millisecond, l.Settle)
}

// Reenters reports whether Enter can be pressed once more if the agent has read the first
// one and left the text at the prompt. That is safe for an agent that empties the prompt at
// once when it takes a text.
func (p *Profile) Reenters() bool { return p.file.Input.Reenter != nil && *p.file.Input.Reenter }

// IdleOnly reports whether the agent takes a text only while it does not work.
func (p *Profile) IdleOnly() bool { return p.input.idleOnly }

// Asks reports whether the profile knows dialogs of the agent. A shell has none.
func (p *Profile) Asks() bool { return p.Knows(Blocked) }

// Knows reports whether a rule of the profile has the state.
func (p *Profile) Knows(s State) bool { return len(p.RulesOf(s)) > 0 }

// RulesOf returns the names of the rules that have a state, in their order.
func (p *Profile) RulesOf(s State) (names []string) {
	for _, r := range p.rules {
		if r.state == s {
			names = append(names, r.name)
		}
	}
	return names
}

// fewest is how many letters of a text identify it: at the prompt, and in its echo.
const fewest = 24

// Unsubmitted reports whether the prompt still holds a text that was entered: its
// beginning, its end if the prompt shows the end of a long text, or the placeholder of a
// long paste.
func (p *Profile) Unsubmitted(l Look, text string) bool {
	draft, text := Squeeze(l.Draft), Squeeze(text)
	switch {
	case draft == "":
		return false
	case matchesAny(p.input.pasted, l.Draft):
		return true
	case text == "":
		return false
	case strings.HasPrefix(draft, head(text)), strings.HasSuffix(draft, tail(text)):
		return true
	default:
		// A prompt of few lines shows a part of a long text.
		return len(draft) >= fewest && strings.Contains(text, head(draft))
	}
}

// Stands reports whether the prompt holds nothing but what stands for a long paste.
func (p *Profile) Stands(l Look) bool {
	draft := strings.TrimSpace(l.Draft)
	return slices.ContainsFunc(p.input.pasted, func(re *regexp.Regexp) bool { return draft != "" && re.FindString(draft) == draft })
}

// Added returns what the prompt holds together with a text that was entered there, before or
// behind it; empty: nothing, as far as can be seen. A prompt that shows a part of the text, or
// has changed letters of it, proves nothing.
func (p *Profile) Added(l Look, text string) string {
	draft, text := Squeeze(l.Draft), Squeeze(text)
	if draft == "" || text == "" || strings.Contains(text, draft) {
		return ""
	}
	for _, re := range p.input.pasted {
		if at := re.FindStringIndex(l.Draft); at != nil {
			before, after := Squeeze(l.Draft[:at[0]]), Squeeze(re.ReplaceAllString(l.Draft[at[1]:], ""))
			switch {
			case !strings.HasPrefix(text, before):
				return before
			case !strings.Contains(text, after):
				return after
			}
			return ""
		}
	}
	if before, ok := strings.CutSuffix(draft, text); ok {
		return before
	}
	if after, ok := strings.CutPrefix(draft, text); ok {
		return after
	}
	return ""
}

// Squeeze returns text without any white space: a screen breaks lines where it likes.
func Squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

func head(text string) string {
	if r := []rune(text); len(r) > fewest {
		return string(r[:fewest])
	}
	return text
}

func tail(text string) string {
	if r := []rune(text); len(r) > fewest {
		return string(r[len(r)-fewest:])
	}
	return text
}

func matchesAny(patterns []*regexp.Regexp, line string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(line) })
}
