package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/ready"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// AsksError says that an agent asks something before it takes any other input. It is
// an [ErrNotReady].
type AsksError struct {
	// Name is the worker's.
	Name, Question string
	Choices        []profile.Choice
}

func (e *AsksError) Error() string        { return fmt.Sprintf("'%s' asks: %s", e.Name, e.Question) }
func (e *AsksError) Is(target error) bool { return target == ErrNotReady }

// Hint returns the next step.
func (e *AsksError) Hint() string {
	return fmt.Sprintf("see it with 'swarm peek %[1]s'; answer it with 'swarm answer %[1]s CHOICE' or in 'swarm attach %[1]s'", e.Name)
}

// ErrBroken says that an agent shows an error instead of its prompt. It is an
// [ErrNotReady], too.
var ErrBroken = errors.New("the agent shows an error")

type brokenError struct {
	name, text string
	// ended is how it ended; nil if it goes on.
	ended error
}

func (e *brokenError) Error() string {
	if e.ended != nil {
		return fmt.Sprintf("%v: %s", e.ended, e.text)
	}
	return fmt.Sprintf("'%s' shows an error: %s", e.name, e.text)
}
func (e *brokenError) Is(target error) bool { return target == ErrBroken || target == ErrNotReady }
func (e *brokenError) Unwrap() error        { return e.ended }

// Hint returns the next step.
func (e *brokenError) Hint() string {
	return fmt.Sprintf("see it with 'swarm peek %s'", e.name)
}

// unknownFor is how long a screen has to be there that the profile does not know and
// that shows something like a prompt.
const unknownFor = 1500 * time.Millisecond

// followProfile follows what a worker shows until its profile says that it is at its
// prompt: nil. A dialog is an [*AsksError], an error screen an [ErrBroken]. Each has
// to be there for a moment: programs that start draw many a screen.
func followProfile(ctx context.Context, owner *backend.Peer, rec registry.Record, p *profile.Profile) error {
	var (
		last  profile.Look
		since time.Time
	)
	err := followScreen(ctx, owner, rec.Handle, nil, func(s swarm.Screen) bool {
		if s.Taken {
			return false
		}
		look := p.Look(profile.Screen{Lines: s.Lines})
		if since.IsZero() || look.State != last.State || look.Broken != last.Broken || look.Question != last.Question {
			last, since = look, time.Now()
		}
		if look.State == profile.Unknown && look.Broken == "" {
			// Another version of the program may draw its prompt in another way.
			return time.Since(since) >= unknownFor && ready.Lines(s.Lines)
		}
		known := look.State == profile.Idle || look.State == profile.Blocked || look.Broken != "" && look.State != profile.Working
		return known && time.Since(since) >= max(idleFor, p.Settle())
	})
	switch {
	case err != nil:
		return err
	case last.State == profile.Blocked:
		return &AsksError{Name: rec.Name, Question: last.Question, Choices: last.Choices}
	case last.Broken != "":
		return &brokenError{name: rec.Name, text: last.Broken}
	}
	return nil
}

// brokenAtEnd returns the error that the last screen of a worker shows; empty: none.
func (h *Host) brokenAtEnd(ctx context.Context, rec *registry.Record) string {
	p := h.profileOf(rec)
	if p == nil {
		return ""
	}
	peek, err := h.Peek(ctx, rec.ID, 0)
	if err != nil || !peek.Screen {
		return ""
	}
	return p.Look(profile.Screen{Lines: peek.Lines}).Broken
}
