package deliver

import (
	"cmp"
	"context"
	"time"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// DefaultTimeout is how long to wait for an agent's prompt by default.
const DefaultTimeout = 30 * time.Second

const (
	// firstPause and lastPause are the shortest and the longest pause between two reads of
	// a screen. There is no event for a changed screen: a terminal shows output a moment
	// after it was written.
	firstPause = 20 * time.Millisecond
	lastPause  = 150 * time.Millisecond
	// shownLimit is how long a text may take to appear at the prompt: on a busy machine
	// agents hang for many seconds.
	shownLimit = 30 * time.Second
	// takenLimit is how long a text with a completion may stay at the prompt after Enter
	// before Enter is pressed once more, and movedLimit if the prompt has changed since.
	takenLimit = 3 * time.Second
	movedLimit = 700 * time.Millisecond
	// provenLimit is how long to wait for a proof after the last Enter.
	provenLimit = 22 * time.Second
)

type Terminal interface {
	// Screen returns the content of the terminal.
	Screen(ctx context.Context) (profile.Screen, error)
	// Input gives input to the agent, see [swarm.Inputter].
	Input(ctx context.Context, in swarm.Input) (swarm.InputResult, error)
}

// Agent is an agent on a terminal. Its methods must not be called at the same time,
// by other processes neither: the caller holds a lock.
type Agent struct {
	Name     string
	Profile  *profile.Profile
	Terminal Terminal
	// Notes keeps how far a delivery came, so that the next one of its text types nothing
	// twice; nil: nothing does.
	Notes Notes
	// Timeout is how long to wait for the prompt; 0: [DefaultTimeout]. Giving the text
	// and proving that it was taken have limits of their own.
	Timeout time.Duration
	// Idle says that a working agent gets nothing: [ErrWorks]. Most agents take text while
	// they work.
	Idle bool
	// Quiet is how long the agent has drawn nothing, as far as that is known. A prompt that
	// is younger may be followed by a dialog, so it has to be there for a while, see
	// [profile.Profile.Settle].
	Quiet time.Duration
	// Empty says that a prompt which holds a text gets nothing: [ErrDraft]. A proposal of
	// the agent there looks like a text that a person has typed.
	Empty bool
}

// Supports reports whether deliveries to agents of a profile can be proved. A shell has
// no dialogs, and keeps on its screen what was typed.
func Supports(p *profile.Profile) bool { return p != nil && p.Asks() }

func (a *Agent) look(ctx context.Context) (profile.Screen, profile.Look, error) {
	s, err := a.Terminal.Screen(ctx)
	if err != nil {
		return s, profile.Look{}, err
	}
	return s, a.Profile.Look(s), nil
}

// watch reads the screen until done returns true, which ok reports, or until the limit has
// passed, which is not an error. It returns the last screen.
func (a *Agent) watch(
	ctx context.Context, limit time.Duration, done func(profile.Screen, profile.Look) (bool, error),
) (last profile.Screen, ok bool, err error) {
	end := time.Now().Add(limit)
	for d := firstPause; ; d = min(2*d, lastPause) {
		s, l, err := a.look(ctx)
		if err == nil {
			ok, err = done(s, l)
		}
		if ok || err != nil || time.Now().After(end) {
			return s, ok, err
		}
		if err := sleep.For(ctx, d); err != nil {
			return s, false, err
		}
	}
}

func (a *Agent) asks(l profile.Look, typed bool) error {
	if l.State != profile.Blocked {
		return nil
	}
	e := a.asksError(l)
	e.Typed = typed
	return e
}

func (a *Agent) asksError(l profile.Look) *AsksError {
	return &AsksError{Name: a.Name, Question: l.Question, Choices: l.Choices, Dialog: l.Dialog}
}

// Shows returns a [ErrChanged] unless the agent shows the dialog with that digest.
func (a *Agent) Shows(ctx context.Context, digest string) error {
	_, l, err := a.look(ctx)
	switch {
	case err != nil:
		return err
	case l.State != profile.Blocked:
		return a.failf(ErrChanged, "'%s' asks nothing any more; no key was pressed", a.Name)
	case l.Dialog.Digest != digest:
		return a.changed(l, "asks something else now, no key was pressed")
	}
	return nil
}

func (a *Agent) atPrompt(ctx context.Context) (profile.Screen, profile.Look, error) {
	limit := cmp.Or(max(0, a.Timeout), DefaultTimeout)
	var look profile.Look
	since := time.Now().Add(-a.Quiet) // when what the first screen shows was drawn
	first := true
	screen, ready, err := a.watch(ctx, limit, func(_ profile.Screen, l profile.Look) (bool, error) {
		look = l
		if err := a.asks(l, false); err != nil {
			return false, err
		}
		if a.Idle && l.State == profile.Working {
			return false, a.failf(ErrWorks, "'%s' works", a.Name)
		}
		if l.State == profile.Unknown || l.State == profile.Working && a.Profile.IdleOnly() {
			if l.State == profile.Unknown && l.Trouble() != "" {
				return false, a.failf(ErrBroken, "'%s' shows an error: %s", a.Name, short(l.Trouble()))
			}
			first, since = false, time.Time{}
			return false, nil
		}
		if since.IsZero() {
			since = time.Now()
		}
		ready := first && l.State == profile.Working || time.Since(since) >= a.Profile.Settle(l)
		first = false
		return ready, nil
	})
	if err == nil && !ready {
		err = a.failf(ErrNoPrompt, "'%s' does not show its prompt within %s; %s", a.Name, limit, quote(screen))
	}
	return screen, look, err
}
