package deliver

import (
	"errors"
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

var (
	// ErrAsks says that an agent shows a dialog; the error is an [AsksError].
	ErrAsks = errors.New("asks something")
	// ErrBroken says that an agent shows an error and no prompt.
	ErrBroken = errors.New("shows an error")
	// ErrNoPrompt says that an agent did not show its prompt in time.
	ErrNoPrompt = errors.New("does not show its prompt")
	// ErrWorks says that an agent is working, and the caller wants to type only at an idle
	// one.
	ErrWorks = errors.New("works")
	// ErrDraft says that a text which was not submitted is at the agent's prompt.
	ErrDraft = errors.New("has an unsent text at its prompt")
	// ErrNotSubmitted says that the text was typed, but the screen does not show that the
	// agent took it.
	ErrNotSubmitted = errors.New("did not take the text")
	// ErrNoDialog says that there is no dialog to answer.
	ErrNoDialog = errors.New("asks nothing")
	// ErrNoChoice says that the dialog has no such choice.
	ErrNoChoice = errors.New("no such choice")
	// ErrChanged says that the dialog has changed since it was read.
	ErrChanged = errors.New("the question changed")
	// ErrNotAnswered says that the dialog is still shown.
	ErrNotAnswered = errors.New("still asks")
)

// AsksError holds the question of an agent.
type AsksError struct {
	Name     string
	Question string
	Choices  []profile.Choice
	Dialog   profile.Dialog
	// Typed says that the text had been typed when the dialog appeared; Enter was not
	// pressed.
	Typed bool
	// Other is the hint for a caller that may not answer; empty: it may.
	Other string
}

// Error returns the question and its choices, fit for a terminal.
func (e *AsksError) Error() string {
	text := fmt.Sprintf("'%s' asks: %s", e.Name, Dialog(e.Question, e.Choices))
	if e.Typed {
		text += "; the text was typed before that and not submitted"
	}
	return text
}

// Is reports whether target is [ErrAsks].
func (e *AsksError) Is(target error) bool { return target == ErrAsks }

// Hint returns how to answer.
func (e *AsksError) Hint() string {
	if e.Other != "" {
		return e.Other
	}
	if len(e.Choices) == 0 {
		return fmt.Sprintf("look with 'swarm peek %[1]s' and press keys with 'swarm keys %[1]s KEY'", e.Name)
	}
	key := "CHOICE"
	if profile.IndexKind(e.Choices, profile.KindSubmit) >= 0 {
		if key = "--submit"; profile.HasBoxes(e.Choices) {
			key = "CHOICE... --submit"
		}
	} else if c, ok := profile.Proposed(e.Choices); ok {
		if key = c.Key; !hasKey(c) {
			key = fmt.Sprintf("%q", safetext.Line(c.Label))
		}
	}
	hint := fmt.Sprintf("answer with 'swarm answer %s %s'", e.Name, key)
	if e.Dialog.Digest != "" {
		hint += fmt.Sprintf("; '--digest %s' answers no other dialog", e.Dialog.Digest)
	}
	return hint
}

// CutText says above the lines of a dialog that its beginning is missing.
const CutText = "(the dialog begins above the screen: attach to see all of it)"

// Names reports whether an error names the agent, as the errors of this package do.
func Names(err error) bool {
	_, failed := errors.AsType[*failure](err)
	_, asks := errors.AsType[*AsksError](err)
	return failed || asks
}

// Dialog returns a question and its choices on one line, fit for a terminal.
func Dialog(question string, choices []profile.Choice) string {
	text := safetext.Line(question)
	if len(choices) > 0 {
		text += " (" + list(choices) + ")"
	}
	return text
}

// maxLabel is how many letters of a choice an error holds: some have several lines.
const maxLabel = 40

func list(choices []profile.Choice) string {
	var all []string
	for _, c := range choices {
		label := c.Label
		if r := []rune(label); len(r) > maxLabel {
			label = string(r[:maxLabel]) + "…"
		}
		if c.Key == "" {
			label = "'" + label + "'" // it may hold a comma
		}
		all = append(all, strings.TrimSpace(safetext.Line(c.Key+" "+label)))
	}
	return strings.Join(all, ", ")
}

type failure struct {
	kind error
	name string
	text string
	// asks is the dialog that is there instead; nil: none.
	asks *AsksError
}

// AsksNow returns the dialog that an agent shows in place of the one that was meant; nil if
// the error is another one, or if the agent asks nothing.
func AsksNow(err error) *AsksError {
	if e, ok := errors.AsType[*failure](err); ok {
		return e.asks
	}
	return nil
}

// changed returns the [ErrChanged] of an agent that shows another dialog.
func (a *Agent) changed(now profile.Look, what string) error {
	if now.State != profile.Blocked {
		return a.failf(ErrChanged, "'%s' %s", a.Name, what)
	}
	return &failure{
		kind: ErrChanged, name: a.Name, asks: a.asksError(now),
		text: fmt.Sprintf("'%s' %s: %s", a.Name, what, Dialog(now.Question, now.Choices)),
	}
}

func (e *failure) Error() string        { return e.text }
func (e *failure) Is(target error) bool { return target == e.kind }

// Hint returns a hint for the user, or "".
func (e *failure) Hint() string {
	switch {
	case errors.Is(e.kind, ErrDraft):
		return fmt.Sprintf("'swarm keys %[1]s Enter' submits it, 'swarm keys %[1]s C-e C-u' clears the line", e.name)
	case errors.Is(e.kind, ErrNoPrompt), errors.Is(e.kind, ErrBroken):
		return fmt.Sprintf("look with 'swarm peek %[1]s'; 'swarm explain %[1]s' shows what was looked for", e.name)
	case errors.Is(e.kind, ErrNotSubmitted):
		return fmt.Sprintf("nothing is typed twice: look with 'swarm peek %[1]s'; 'swarm keys %[1]s Enter' presses Enter", e.name)
	case errors.Is(e.kind, ErrChanged) && e.asks != nil:
		return e.asks.Hint()
	case errors.Is(e.kind, ErrNotAnswered):
		return fmt.Sprintf("look with 'swarm peek %[1]s' and press keys with 'swarm keys %[1]s KEY'", e.name)
	default:
		return ""
	}
}

func (a *Agent) failf(kind error, format string, args ...any) error {
	return &failure{kind: kind, name: a.Name, text: fmt.Sprintf(format, args...)}
}

type inputError struct {
	error
	name string
}

func (e *inputError) Unwrap() error { return e.error }

// Hint returns a hint for the user, or "".
func (e *inputError) Hint() string {
	if !errors.Is(e.error, swarm.ErrUnavailable) {
		return ""
	}
	return fmt.Sprintf("look with 'swarm peek %s'", e.name)
}

const maxQuoted = 160

func quote(s profile.Screen) string {
	var last []string
	for i := len(s.Lines) - 1; i >= 0 && len(last) < 3; i-- {
		if line := strings.TrimSpace(s.Lines[i]); line != "" {
			last = append([]string{line}, last...)
		}
	}
	if len(last) == 0 {
		return "its screen is empty"
	}
	return "its screen ends with: " + short(strings.Join(last, " / "))
}

func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxQuoted {
		text = string(r[:maxQuoted]) + "…"
	}
	return safetext.Line(text)
}
