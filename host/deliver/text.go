package deliver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Text types a text at the agent's prompt and submits it if enter says so. It returns
// nil if the screen shows that the agent took it.
//
// Nothing is typed if the agent asks something, shows an error in place of its prompt, does
// not come to its prompt in time, or has another text there that was not sent, wherever its
// cursor is. If a dialog appears after the text was typed, if the text does not appear, or if
// a person types at the same moment, Enter is not pressed. Enter is pressed once more, and
// only once, if a completion took the first.
func (a *Agent) Text(ctx context.Context, text string, enter bool) error {
	d := delivery{Agent: a, text: text, mine: profile.Squeeze(text)}
	var err error
	if d.screen, d.before, err = a.atPrompt(ctx); err != nil {
		return err
	}
	if a.Empty && profile.Squeeze(d.before.Draft) != "" {
		return a.unsent(d.before)
	}
	if d.mine == "" {
		if text != "" && d.before.Draft != "" && !d.before.Doubtful {
			return a.unsent(d.before)
		}
		// Blanks can't be seen.
		if text != "" {
			_, err = d.Terminal.Input(ctx, swarm.Input{Data: []byte(text), PasteOnly: true})
		}
		if err != nil || !enter {
			return err
		}
		return d.press(ctx)
	}
	taken, err := d.resume(ctx)
	if err == nil && !taken {
		err = d.submit(ctx, enter)
	}
	if err != nil {
		return err
	}
	return d.over()
}

func (d *delivery) submit(ctx context.Context, enter bool) error {
	if err := d.typeIt(ctx); err != nil || !enter {
		return err
	}
	if err := d.press(ctx); err != nil {
		return err
	}
	return d.prove(ctx)
}

// Submit presses Enter if a text that was typed before stands at the agent's prompt. It
// types nothing, and does not press Enter for a text that stands behind another one:
// [ErrDraft]. It reports whether Enter was pressed, which is not known if an error
// comes with true. If it was pressed and the error is nil, the screen shows that the
// agent took the text; if it was not, the text is not there.
func (a *Agent) Submit(ctx context.Context, text string) (pressed bool, err error) {
	d := delivery{Agent: a, text: text, mine: profile.Squeeze(text)}
	if d.screen, d.before, err = a.atPrompt(ctx); err != nil {
		return false, err
	}
	if d.mine == "" || !d.Profile.Unsubmitted(d.before, text) {
		return false, nil
	}
	if d.added(d.before, "") != "" {
		return false, a.failf(ErrDraft, "'%s' has another unsent text at its prompt together with this one: %s", a.Name, short(d.before.Draft))
	}
	d.saw(d.before)
	if err := d.press(ctx); err != nil {
		return d.entered, err
	}
	return true, d.prove(ctx)
}

type delivery struct {
	*Agent
	text string
	// mine is the text without white space.
	mine string
	// screen and before are the screen and the state before the text was typed.
	screen profile.Screen
	before profile.Look
	// draft is the text at the prompt before Enter, in so many rows; shown says that the
	// text was seen there.
	draft string
	rows  int
	shown bool
	// seen is the state in which it was seen.
	seen profile.Look
	// entered says that Enter was pressed, or may have been; read says that the agent has
	// read the first one; pressed is the time of that.
	entered, read bool
	pressed       time.Time
}

const (
	// proof is how many letters of a text prove that a prompt shows it: fewer may be part
	// of a text that the agent proposes.
	proof = 8
	// partial is the least number of letters of a text that a prompt shows in parts.
	partial = 24
)

// typeIt gives the text, unless it is at the prompt already, and waits until it is
// shown there.
func (d *delivery) typeIt(ctx context.Context) error {
	theirs, length := profile.Squeeze(d.before.Draft), utf8.RuneCountInString(d.mine)
	switch {
	case d.shown: // a delivery that was cut off left it there
		return sleep.For(ctx, d.Profile.PasteGuard())
	case theirs == "":
	case theirs == d.mine:
		d.saw(d.before)
		return sleep.For(ctx, d.Profile.PasteGuard())
	case !d.before.Doubtful,
		d.Profile.Unsubmitted(d.before, ""), // something that stands for a long text
		length >= proof && strings.HasSuffix(theirs, d.mine),
		length > partial && d.Profile.Unsubmitted(d.before, d.text):
		return d.unsent(d.before)
	}
	if err := d.dismiss(ctx); err != nil {
		return err
	}
	if err := d.note(false); err != nil {
		return err
	}
	// It is never given again, since it may have been given already.
	if _, err := d.Terminal.Input(ctx, swarm.Input{Data: []byte(d.text), PasteOnly: true}); err != nil {
		return &inputError{error: err, name: d.Name}
	}
	last, visible, err := d.watch(ctx, shownLimit, func(s profile.Screen, l profile.Look) (bool, error) {
		if err := d.asks(l, true); err != nil {
			return false, err
		}
		if d.Profile.Unsubmitted(l, d.text) {
			d.saw(l)
		}
		// A prompt that can't be separated from the rest of the screen has no draft.
		hidden := l.Draft == "" && (l.Rows == 0 || length >= proof)
		return d.shown || hidden && d.occurrences(s) > d.occurrences(d.screen), nil
	})
	switch {
	case err != nil:
		return err
	case !visible && theirs != "" && d.inside(last, theirs):
		return d.mixed(d.Profile.Look(last))
	case !visible:
		// An agent that hangs may show a dialog next, which Enter would answer.
		return d.failf(ErrNotSubmitted, "'%s' was given the text and does not show it; Enter was not pressed; %s", d.Name, quote(last))
	case d.shown && d.added(d.seen, theirs) != "":
		return d.mixed(d.seen)
	}
	// The guard counts from when the program has read the text, which may be long after
	// it was given.
	return sleep.For(ctx, d.Profile.PasteGuard())
}

// dismissLimit is how long something that takes single keys may take to close.
const dismissLimit = 10 * time.Second

// dismiss closes what would take a text of one letter for an answer, such as a survey. The key
// that closes it is a text, too, if it has just closed by itself: it is taken away then.
func (d *delivery) dismiss(ctx context.Context) error {
	key := d.before.Dismiss
	if key == "" || utf8.RuneCountInString(d.mine) > 1 {
		return nil
	}
	if _, err := d.Terminal.Input(ctx, swarm.Input{Kind: swarm.InputKeys, Data: []byte(key)}); err != nil {
		return &inputError{error: err, name: d.Name}
	}
	erased := false
	_, _, err := d.watch(ctx, dismissLimit, func(s profile.Screen, l profile.Look) (bool, error) {
		d.screen, d.before = s, l
		if err := d.asks(l, false); err != nil {
			return false, err
		}
		if l.Draft == key && !erased {
			erased = true
			_, err := d.Terminal.Input(ctx, swarm.Input{Kind: swarm.InputKeys, Data: []byte("BSpace")})
			return false, err
		}
		return l.Dismiss == "" && l.Draft == "", nil
	})
	switch {
	case err != nil:
		return err
	case d.before.Draft != "":
		return d.unsent(d.before)
	case d.before.Dismiss != "":
		return d.failf(ErrNoPrompt, "'%s' shows something that takes single letters, and does not close it; nothing was typed; %s", d.Name, quote(d.screen))
	}
	return nil
}

func (d *delivery) saw(l profile.Look) { d.draft, d.rows, d.shown, d.seen = l.Draft, l.Rows, true, l }

// unsent returns the [ErrDraft] of an agent that has a text at its prompt already.
func (a *Agent) unsent(l profile.Look) error {
	return a.failf(ErrDraft, "'%s' has an unsent text at its prompt, nothing was typed: %s", a.Name, short(l.Draft))
}

// mixed returns the [ErrDraft] of an agent whose prompt holds the text of the delivery
// together with another one.
func (d *delivery) mixed(l profile.Look) error {
	return d.failf(ErrDraft, "'%s' has another text at its prompt; yours was typed there and not submitted: %s", d.Name, short(l.Draft))
}

// added returns the text that the prompt holds together with that of the delivery, such as
// what a person types at the same moment; empty: none. Completions add to a text, too, so
// theirs must be a part of what was there before, if anything was.
func (d *delivery) added(l profile.Look, theirs string) string {
	more := d.Profile.Added(l, d.text)
	if completes(d.text) && (theirs == "" || !strings.Contains(more, theirs)) {
		return ""
	}
	return more
}

// inside reports whether the prompt holds the text of the delivery in the middle of another
// one, where its cursor was.
func (d *delivery) inside(s profile.Screen, theirs string) bool {
	before, after, ok := strings.Cut(profile.Squeeze(d.Profile.Look(s).Draft), d.mine)
	return ok && before+after == theirs
}

// press presses Enter after one more read of the screen.
func (d *delivery) press(ctx context.Context) error {
	_, l, err := d.look(ctx)
	if err == nil {
		err = d.asks(l, d.text != "")
	}
	if err == nil && d.shown && l.Draft != d.draft && d.added(l, "") != "" {
		return d.mixed(l)
	}
	if err == nil {
		err = d.note(true)
	}
	if err != nil {
		return err
	}
	d.entered = true
	in, err := d.Terminal.Input(ctx, swarm.Input{Enter: true})
	if err != nil {
		return fmt.Errorf("the text was typed and not submitted: %w", err)
	}
	d.read = !in.Pending
	d.pressed = time.Now()
	return nil
}

func (d *delivery) prove(ctx context.Context) error {
	var pressed profile.Screen // when Enter was pressed again
	again := 0
	last, proven, err := d.watch(ctx, takenLimit+provenLimit, func(s profile.Screen, l profile.Look) (bool, error) {
		if proven := d.taken(s, l); proven || again == 2 || !d.takesEnter(l) {
			return proven, nil
		}
		// A completion that takes Enter changes the screen, and not always the text.
		if again == 1 && (!completes(d.text) || slices.Equal(s.Lines, pressed.Lines)) {
			return false, nil
		}
		again, pressed, d.pressed = again+1, s, time.Now()
		_, err := d.Terminal.Input(ctx, swarm.Input{Enter: true})
		return false, err
	})
	switch {
	case errors.Is(err, swarm.ErrNotFound):
		return nil // it took it, and ended
	case err == nil && !proven:
		return d.failf(ErrNotSubmitted, "'%s' was given the text and does not show that it took it; %s", d.Name, quote(last))
	default:
		return err
	}
}

// still reports whether the text is at the prompt, as it was typed or as a completion
// has changed it.
func (d *delivery) still(l profile.Look) bool {
	draft := profile.Squeeze(l.Draft)
	i := strings.IndexByte(d.mine, '@')
	if i < 0 && strings.HasPrefix(d.mine, "/") {
		i = 0
	}
	if i >= 0 && draft != "" {
		// A completion may take the mark away, and everything after it is another text.
		begin := d.mine[:i]
		if begin != "" && strings.HasPrefix(draft, begin) || alike(draft, d.mine) {
			return true
		}
	}
	if !d.Profile.Unsubmitted(l, d.text) {
		return false
	}
	// The first letters of a short text may belong to the agent's next proposal.
	return utf8.RuneCountInString(d.mine) >= proof || draft == d.mine
}

// alike reports whether two texts begin with the same letters, ignoring the marks of
// completions.
func alike(a, b string) bool {
	unmark := strings.NewReplacer("@", "", "/", "")
	a, b = unmark.Replace(a), unmark.Replace(b)
	n := min(len(a), len(b), proof)
	return n > 0 && a[:n] == b[:n]
}

// takesEnter reports whether Enter is to be pressed once more: a completion has changed
// the text at the prompt, or one may have taken Enter without a change, or the agent is
// known to drop one. Any other text that stays there is on its way in a slow agent, which
// would submit it twice.
func (d *delivery) takesEnter(l profile.Look) bool {
	atPrompt := l.State == profile.Idle || l.State == profile.Working && d.before.State == profile.Working
	if !d.shown || !atPrompt || !d.still(l) {
		return false
	}
	// One more row is an Enter that was read together with the text, as a part of it.
	if l.Draft != d.draft || l.Rows > d.rows {
		return time.Since(d.pressed) >= movedLimit
	}
	dropped := d.read && d.Profile.Reenters()
	return (dropped || completes(d.text)) && time.Since(d.pressed) >= takenLimit
}

// completes reports whether agents offer completions of a text: of names of files after
// "@", and of commands.
func completes(text string) bool {
	return strings.Contains(text, "@") || strings.HasPrefix(strings.TrimSpace(text), "/")
}

func (d *delivery) taken(s profile.Screen, l profile.Look) bool {
	works := l.State == profile.Working && d.before.State == profile.Idle
	after := time.Since(d.pressed)
	switch {
	case !d.shown && works:
		return true
	case !d.shown:
		// It is not at the prompt, but in the conversation.
		return l.State != profile.Unknown && l.Draft == "" && d.occurrences(s) > d.occurrences(d.screen) && !d.atBottom(s)
	case l.State == profile.Blocked:
		// A dialog that Enter did not answer came after it.
		return true
	case d.still(l):
		// Of some agents the prompt stays where it was while they work.
		return works && after >= takenLimit
	default:
		return l.State != profile.Unknown || after >= movedLimit
	}
}

// bottom is how many of the last lines of a screen may hold an agent's prompt.
const bottom = 8

func (d *delivery) atBottom(s profile.Screen) bool {
	n := len(s.Lines)
	for n > 0 && strings.TrimSpace(s.Lines[n-1]) == "" {
		n--
	}
	return d.occurrences(profile.Screen{Lines: s.Lines[max(0, n-bottom):n]}) > 0
}

func (d *delivery) occurrences(s profile.Screen) int {
	head := d.mine
	if r := []rune(head); len(r) > partial {
		head = string(r[:partial])
	}
	return strings.Count(profile.Squeeze(strings.Join(s.Lines, " ")), head)
}
