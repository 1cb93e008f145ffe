package deliver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// answeredLimit is how long a dialog may stay after it was answered: Gemini CLI starts again
// with it on the screen.
const answeredLimit = 20 * time.Second

// drawnBefore is how long a dialog is shown before a key is pressed: agents draw one a
// moment before they read keys for it, longer on a busy machine, and drop what comes
// earlier.
const drawnBefore = 500 * time.Millisecond

// Answered is a dialog that is gone, or whose boxes are checked.
type Answered struct {
	Question string
	// Choice is the last of Choices, or the one that sent them.
	Choice profile.Choice
	// Choices are those that were named, with their boxes as they are now.
	Choices []profile.Choice
	// Text is what was typed into a field.
	Text string
	// Open says that the dialog is still there: boxes were checked or cleared, and nothing was
	// sent.
	Open bool
	// Next is the dialog that replaced it, or nil.
	Next *AsksError
}

// Picked returns what was chosen, on one line. A text is not in it.
func (a Answered) Picked() string {
	var all []string
	for _, c := range a.Choices {
		switch {
		case !a.Open || c.Checked == nil:
			all = append(all, c.Label)
		case *c.Checked:
			all = append(all, c.Label+": checked")
		default:
			all = append(all, c.Label+": not checked")
		}
	}
	return strings.Join(all, ", ")
}

// Reply is an answer to a dialog.
type Reply struct {
	// Choice is the key of a choice, or the beginning of its label.
	Choice string
	// Choices are more of them, of a dialog with boxes. With Submit the named ones are the
	// checked ones in the end; without, the box of each is checked or cleared.
	Choices []string
	// Submit says to send what is checked.
	Submit bool
	// Text is typed into the field that the dialog has for a text of one's own, which need not
	// be named. Without boxes that is the answer.
	Text string
	// Question is a text that the dialog's question must contain, in any case.
	Question string
	// Digest is that of the dialog which the person has seen, see [profile.Dialog]; empty: the
	// one that the call reads first counts.
	Digest string
}

// Answer picks choices of the dialog that the agent shows, and returns nil once the dialog
// is gone, or once its boxes are set as requested if nothing is to be sent. A dialog other than the
// requested one is not answered: the error is [ErrChanged], with the new dialog. The dialog is read again right before each key.
func (a *Agent) Answer(ctx context.Context, r Reply) (Answered, error) {
	s, l, err := a.drawn(ctx)
	if err != nil {
		return Answered{}, err
	}
	if l.State != profile.Blocked {
		return Answered{}, a.failf(ErrNoDialog, "'%s' asks nothing that can be answered; %s", a.Name, quote(s))
	}
	if r.Digest != "" && r.Digest != l.Dialog.Digest {
		return Answered{}, a.changed(l, "asks something else now, nothing was answered")
	}
	if !strings.Contains(plain(l.Question), plain(r.Question)) {
		return Answered{}, a.changed(l, "asks something else")
	}
	p, err := a.stepsOf(l, r)
	if err != nil {
		return Answered{}, err
	}
	out := Answered{Question: l.Question, Text: r.Text}
	l, err = a.prepare(ctx, l, p, &out)
	if err != nil || p.last == nil {
		out.Open = err == nil
		return out, err
	}
	last := *p.last
	if last.Kind == profile.KindText {
		err = a.key(ctx, l, "Enter") // it is selected, and has its text for a label now
	} else {
		last = l.Choices[index(l.Choices, last)] // the selection may have moved
		out.Choice = last
		if len(out.Choices) == 0 {
			out.Choices = checked(l, last)
		}
		err = a.pick(ctx, l, last)
	}
	if err != nil {
		return out, err
	}
	out.Next, err = a.gone(ctx, l, last)
	if err == nil && last.Kind != profile.KindOption {
		err = a.taken(ctx, s)
	}
	return out, err
}

// checked returns the choices that a choice sends: those with checked boxes, or itself.
func checked(l profile.Look, c profile.Choice) []profile.Choice {
	var all []profile.Choice
	for _, o := range l.Choices {
		if c.Kind == profile.KindSubmit && o.Checked != nil && *o.Checked {
			all = append(all, o)
		}
	}
	if len(all) == 0 {
		return []profile.Choice{c}
	}
	return all
}

// plain returns a question as it is compared: without blanks and the marks of new lines.
func plain(question string) string {
	return strings.ToLower(strings.ReplaceAll(profile.Squeeze(question), "⏎", ""))
}

// drawn reads the screen of the agent. It returns a dialog once that has been shown for
// drawnBefore: a busy agent draws it piece by piece.
func (a *Agent) drawn(ctx context.Context) (profile.Screen, profile.Look, error) {
	s, l, err := a.look(ctx)
	for err == nil && l.State == profile.Blocked {
		if err := sleep.For(ctx, drawnBefore); err != nil {
			return s, l, err
		}
		before := l
		if s, l, err = a.look(ctx); err != nil || !grown(before, l) || same(before, l) {
			return s, before, err
		}
	}
	return s, l, err
}

// grown reports whether two reads show the same dialog, the second one possibly more of it.
func grown(a, b profile.Look) bool {
	return b.State == profile.Blocked && a.Rule == b.Rule && strings.HasPrefix(b.Question, a.Question) && len(b.Choices) >= len(a.Choices) &&
		slices.EqualFunc(a.Choices, b.Choices[:len(a.Choices)], func(x, y profile.Choice) bool {
			return x.Key == y.Key && strings.HasPrefix(y.Label, x.Label)
		})
}

func (a *Agent) choose(l profile.Look, choice string) (profile.Choice, error) {
	if len(l.Choices) == 0 {
		return profile.Choice{}, a.failf(ErrNoChoice, "the choices of '%s' are not known; it asks: %s", a.Name, Dialog(l.Question, nil))
	}
	switch found := profile.ChoicesNamed(l.Choices, choice); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return profile.Choice{}, a.failf(ErrNoChoice, "'%s' offers no choice '%s'; it asks: %s", a.Name, short(choice), Dialog(l.Question, l.Choices))
	default:
		return profile.Choice{}, a.failf(ErrNoChoice, "'%s' could be each of: %s", short(choice), list(found))
	}
}

// pick presses what takes a choice: its key, or Enter once it is the selected row.
func (a *Agent) pick(ctx context.Context, l profile.Look, c profile.Choice) error {
	switch {
	case c.Selected:
		return a.key(ctx, l, "Enter")
	case hasKey(c):
		for name := range strings.FieldsSeq(c.Key) {
			if err := a.key(ctx, l, name); err != nil {
				return err
			}
		}
		return nil
	case selected(l) < 0:
		return a.failf(ErrNotAnswered, "it is not known which key of '%s' picks '%s'", a.Name, short(c.Label))
	}
	l, err := a.moveTo(ctx, l, index(l.Choices, c))
	if err != nil {
		return err
	}
	return a.key(ctx, l, "Enter")
}

// hasKey reports whether a choice has keys that can be pressed. A key that comes from the
// screen is a single character.
func hasKey(c profile.Choice) bool {
	names := strings.Fields(c.Key)
	unknown := func(name string) bool { return !slices.Contains(keys, name) }
	return utf8.RuneCountInString(c.Key) == 1 && c.Key != " " || len(names) > 0 && !slices.ContainsFunc(names, unknown)
}

var keys = []string{"Enter", "Escape", "Tab", "Left", "Right"}

func selected(l profile.Look) int {
	return slices.IndexFunc(l.Choices, func(c profile.Choice) bool { return c.Selected })
}

func index(choices []profile.Choice, c profile.Choice) int {
	return slices.IndexFunc(choices, func(o profile.Choice) bool { return o.Key == c.Key && o.Label == c.Label })
}

// same reports whether two reads show the same dialog, whatever is selected.
func same(a, b profile.Look) bool {
	return a.State == profile.Blocked && b.State == profile.Blocked && a.Rule == b.Rule && a.Question == b.Question &&
		a.Dialog.Digest == b.Dialog.Digest && slices.EqualFunc(a.Choices, b.Choices, func(x, y profile.Choice) bool { return x.Key == y.Key && x.Label == y.Label })
}

// key presses a key if the dialog is still the one that was seen.
func (a *Agent) key(ctx context.Context, seen profile.Look, name string) error {
	_, now, err := a.look(ctx)
	switch {
	case err != nil:
		return err
	case now.State != profile.Blocked:
		return a.failf(ErrChanged, "'%s' asks nothing any more; nothing was answered", a.Name)
	case !same(seen, now):
		return a.changed(now, "asks something else now, nothing was answered")
	}
	_, err = a.Terminal.Input(ctx, swarm.Input{Kind: swarm.InputKeys, Data: []byte(name)})
	return err
}

// gone waits until the dialog is gone. A key that only selects is followed by Enter,
// once, if the dialog shows that it did: another dialog like this one may have come.
func (a *Agent) gone(ctx context.Context, asked profile.Look, c profile.Choice) (*AsksError, error) {
	began := time.Now()
	entered := c.Selected || !hasKey(c) || c.Kind == profile.KindText
	var next *AsksError
	last, over, err := a.watch(ctx, answeredLimit, func(_ profile.Screen, now profile.Look) (bool, error) {
		if !same(asked, now) {
			if now.State == profile.Blocked {
				next = a.asksError(now)
			}
			return true, nil
		}
		if entered || time.Since(began) < movedLimit || !marks(asked, now, c) {
			return false, nil
		}
		entered = true
		return false, a.key(ctx, now, "Enter")
	})
	switch {
	case errors.Is(err, swarm.ErrNotFound):
		err = nil // it ended
	case err == nil && !over:
		err = a.failf(ErrNotAnswered, "'%s' still asks this, or again, after '%s' was picked; %s", a.Name, short(c.Label), quote(last))
	}
	return next, err
}

// marks reports whether a dialog shows that a choice was picked which it did not show
// before: by its selected row, or by the key at the end of the line.
func marks(before, now profile.Look, c profile.Choice) bool {
	if i := index(now.Choices, c); i >= 0 && now.Choices[i].Selected {
		return true
	}
	return now.Evidence != before.Evidence && strings.HasSuffix(now.Evidence, c.Key)
}
