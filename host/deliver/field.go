package deliver

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// steps are what an answer does, in this order.
type steps struct {
	// boxes are the choices whose boxes have to change.
	boxes []profile.Choice
	// named are the choices with boxes that the answer names.
	named []profile.Choice
	// field is where text is typed; nil: no text is.
	field *profile.Choice
	text  string
	// last is the choice that sends the answer; nil: it is not sent.
	last *profile.Choice
}

// stepsOf returns what has to be done for an answer, or the reason why the dialog does not take
// it. Nothing is pressed before all of it is known.
func (a *Agent) stepsOf(l profile.Look, r Reply) (steps, error) {
	p := steps{text: r.Text}
	names := slices.Clone(r.Choices)
	if r.Choice != "" || len(names) == 0 && !r.Submit && r.Text == "" {
		names = slices.Insert(names, 0, r.Choice)
	}
	var plain []profile.Choice
	for _, name := range names {
		c, err := a.choose(l, name)
		switch {
		case err != nil:
			return p, err
		case c.Kind == profile.KindSubmit:
			r.Submit = true
		case c.Kind == profile.KindText && r.Text == "":
			return p, a.failf(ErrNoChoice, "'%s' is a field for a text of your own: give the text with it", short(c.Label))
		case c.Kind == profile.KindText:
			p.field = &c
		case c.Checked != nil && index(p.named, c) < 0:
			p.named = append(p.named, c)
		case c.Checked == nil:
			plain = append(plain, c)
		}
	}
	boxes := profile.HasBoxes(l.Choices)
	if r.Text != "" && p.field == nil {
		at := profile.IndexKind(l.Choices, profile.KindText)
		if at < 0 {
			return p, a.failf(ErrNoChoice, "the dialog of '%s' has no field for a text, or one that holds a text already; it asks: %s", a.Name, Dialog(l.Question, l.Choices))
		}
		p.field = &l.Choices[at]
	}
	switch {
	case len(plain) > 1, len(plain) == 1 && (len(p.named) > 0 || p.field != nil || r.Submit && boxes):
		return p, a.failf(ErrNoChoice, "the dialog of '%s' takes one choice, or one text; it asks: %s", a.Name, Dialog(l.Question, l.Choices))
	case len(plain) == 1:
		p.last = &plain[0]
		return p, nil
	}
	for _, c := range l.Choices {
		if c.Checked == nil || c.Kind == profile.KindText {
			continue
		}
		named := index(p.named, c) >= 0
		exact := r.Submit && (len(p.named) > 0 || p.field != nil)
		if exact && named != *c.Checked || !exact && named {
			p.boxes = append(p.boxes, c)
		}
	}
	if p.field != nil && !boxes {
		p.last = p.field
		return p, nil
	}
	if r.Submit {
		at := profile.IndexKind(l.Choices, profile.KindSubmit)
		if at < 0 {
			return p, a.failf(ErrNoChoice, "the dialog of '%s' has no choice that sends what is checked; it asks: %s", a.Name, Dialog(l.Question, l.Choices))
		}
		p.last = &l.Choices[at]
	}
	return p, nil
}

// prepare checks the boxes and types the text of an answer. It returns the dialog as it is
// then.
func (a *Agent) prepare(ctx context.Context, l profile.Look, p steps, out *Answered) (profile.Look, error) {
	var err error
	for _, c := range p.boxes {
		if l, err = a.toggle(ctx, l, c); err != nil {
			return l, err
		}
	}
	for _, c := range p.named {
		if i := index(l.Choices, c); i >= 0 {
			out.Choices = append(out.Choices, l.Choices[i])
			out.Choice = l.Choices[i]
		}
	}
	if p.field != nil {
		at := index(l.Choices, *p.field)
		if l, err = a.fill(ctx, l, at, p.text); err != nil {
			return l, err
		}
		// Its label is the text now.
		out.Choice = *p.field
		out.Choice.Selected, out.Choice.Checked = true, l.Choices[at].Checked
		out.Choices = append(out.Choices, out.Choice)
	}
	return l, nil
}

// boxLimit is how long a box or a field may take to show what a key has done.
const boxLimit = 10 * time.Second

// toggle changes the box of a choice and returns once the screen shows it. The key of a choice
// changes its box, or only selects its row, which shows; a key is never pressed twice for the
// same thing.
func (a *Agent) toggle(ctx context.Context, l profile.Look, c profile.Choice) (profile.Look, error) {
	at := index(l.Choices, c)
	changed := func(now profile.Look) bool { return *now.Choices[at].Checked != *c.Checked }
	if !hasKey(c) || l.Choices[at].Selected {
		moved, err := a.moveTo(ctx, l, at)
		if err != nil {
			return l, err
		}
		return a.pressAt(ctx, moved, c, cmp.Or(c.Press, "Enter"), changed)
	}
	now, err := a.pressAt(ctx, l, c, c.Key, func(now profile.Look) bool { return changed(now) || now.Choices[at].Selected })
	if err != nil {
		return l, err
	}
	// A row that is selected may change its box a moment later.
	end := time.Now().Add(movedLimit)
	for !changed(now) && time.Now().Before(end) {
		if err := sleep.For(ctx, lastPause); err != nil {
			return now, err
		}
		if now, err = a.sameNow(ctx, now); err != nil {
			return now, err
		}
	}
	if changed(now) {
		return now, nil
	}
	return a.pressAt(ctx, now, c, cmp.Or(c.Press, "Enter"), changed)
}

// sameNow returns the dialog as it is now, which must be the one that was seen.
func (a *Agent) sameNow(ctx context.Context, seen profile.Look) (profile.Look, error) {
	_, now, err := a.look(ctx)
	if err == nil && !same(seen, now) {
		err = a.changed(now, "asks something else now; the answer was not sent")
	}
	return now, err
}

// pressAt presses a key of a dialog and returns the dialog once done says so.
func (a *Agent) pressAt(ctx context.Context, l profile.Look, c profile.Choice, key string, done func(profile.Look) bool) (profile.Look, error) {
	for name := range strings.FieldsSeq(key) {
		if err := a.key(ctx, l, name); err != nil {
			return l, err
		}
	}
	last, ok, err := a.watch(ctx, boxLimit, func(_ profile.Screen, now profile.Look) (bool, error) {
		if !same(l, now) {
			return false, a.changed(now, "asks something else now; the answer was not sent")
		}
		ok := done(now)
		if ok {
			l = now
		}
		return ok, nil
	})
	if err == nil && !ok {
		err = a.failf(ErrNotAnswered, "'%s' does not show that '%s' was chosen; %s", a.Name, short(c.Label), quote(last))
	}
	return l, err
}

// moveTo moves the selection to a choice and takes nothing.
func (a *Agent) moveTo(ctx context.Context, l profile.Look, to int) (profile.Look, error) {
	for range 2 * len(l.Choices) {
		at := selected(l)
		switch {
		case at < 0:
			return l, a.failf(ErrNotAnswered, "'%s' does not show which choice is selected", a.Name)
		case at == to:
			return l, nil
		}
		name := "Down"
		if at > to {
			name = "Up"
		}
		now, err := a.pressAt(ctx, l, l.Choices[to], name, func(now profile.Look) bool { return selected(now) != at })
		if err != nil {
			return l, err
		}
		l = now
	}
	return l, a.failf(ErrNotAnswered, "the selection of '%s' does not move to '%s'", a.Name, short(l.Choices[to].Label))
}

// fill types a text into a field and returns the dialog that shows it there.
func (a *Agent) fill(ctx context.Context, l profile.Look, at int, text string) (profile.Look, error) {
	c := l.Choices[at]
	if c.Kind != profile.KindText {
		return l, a.failf(ErrNotAnswered, "'%s' has a text in its field already: %s", a.Name, short(c.Label))
	}
	l, err := a.moveTo(ctx, l, at)
	if err != nil {
		return l, err
	}
	if l, err = a.sameNow(ctx, l); err != nil {
		return l, err
	}
	if selected(l) != at {
		return l, a.failf(ErrChanged, "another choice of '%s' is selected now; nothing was typed", a.Name)
	}
	if _, err := a.Terminal.Input(ctx, swarm.Input{Data: []byte(text), PasteOnly: true}); err != nil {
		return l, &inputError{error: err, name: a.Name}
	}
	last, shown, err := a.watch(ctx, shownLimit, func(_ profile.Screen, now profile.Look) (bool, error) {
		if !sameBut(l, now, at) {
			return false, a.changed(now, "asks something else now; the text was typed and not sent")
		}
		shown := a.holds(l, now, at, text)
		if shown {
			l = now
		}
		return shown, nil
	})
	switch {
	case err != nil:
		return l, err
	case !shown:
		return l, a.failf(ErrNotAnswered, "the field of '%s' was given the text and does not show it; nothing was sent; %s", a.Name, quote(last))
	}
	return l, sleep.For(ctx, a.Profile.PasteGuard())
}

// holds reports whether a field shows a text, which may have several lines, or what stands for
// a long one.
func (a *Agent) holds(before, now profile.Look, at int, text string) bool {
	label := profile.Squeeze(now.Choices[at].Label)
	if label == "" || now.Choices[at].Label == before.Choices[at].Label {
		return false
	}
	if a.Profile.Stands(profile.Look{Draft: now.Choices[at].Label}) {
		return true
	}
	want := profile.Squeeze(text)
	return strings.HasPrefix(want, label) && strings.Contains(profile.Squeeze(strings.Join(now.Dialog.Lines, "\n")), want)
}

// sameBut reports whether two reads show the same dialog, whatever one of its choices is.
func sameBut(a, b profile.Look, at int) bool {
	if b.State != profile.Blocked || a.Rule != b.Rule || a.Question != b.Question || len(a.Choices) != len(b.Choices) {
		return false
	}
	for i, c := range a.Choices {
		if i != at && (c.Key != b.Choices[i].Key || c.Label != b.Choices[i].Label) {
			return false
		}
	}
	return true
}

// declinedLimit is how long an agent may take to show that it takes an answer for a refusal.
const declinedLimit = time.Second

// taken returns an error if the agent shows, now and not before, that it takes what was sent
// for a refusal to answer.
func (a *Agent) taken(ctx context.Context, before profile.Screen) error {
	_, declined, err := a.watch(ctx, declinedLimit, func(s profile.Screen, _ profile.Look) (bool, error) {
		return a.Profile.Declined(s) > a.Profile.Declined(before), nil
	})
	if err == nil && declined {
		err = a.failf(ErrNotAnswered, "'%s' shows that it was given no answer: 'swarm peek %[1]s' shows what it did", a.Name)
	}
	return err
}
