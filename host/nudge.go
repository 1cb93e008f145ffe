package host

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// nudgeLimit is how long a nudge may take; all of its steps have limits of their
	// own.
	nudgeLimit = 2 * time.Minute
	// noWait is the time to wait for a prompt when there is none to be waited for.
	noWait = time.Nanosecond
)

// nudge types one line at the prompt of a worker's agent that tells what is waiting for
// it, and records what came of that. The caller has the lock of the worker's courier.
// Before, it records what is about to be typed: whoever dies from then on leaves that,
// and the next nudge finds out what became of the line in place of typing anything.
//
// With empty nothing is typed if the prompt holds a text. A line that is begun is carried
// through whatever becomes of ctx.
func (h *Host) nudge(ctx context.Context, p *backend.Peer, rec registry.Record, prof *profile.Profile, empty bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), nudgeLimit)
	defer cancel()
	unlock, err := h.lockInput(ctx, rec, prof)
	if err != nil {
		return err
	}
	defer unlock()
	term := &inputTerminal{terminal: terminal{p: p, handle: rec.Handle}}
	a := &deliver.Agent{Name: rec.Name, Profile: prof, Terminal: term, Timeout: noWait, Idle: true, Empty: empty}
	left, err := h.leftNudge(ctx, rec.ID)
	if err != nil {
		return err
	}
	if left != "" {
		return h.finishNudge(ctx, a, rec.ID, left)
	}
	line, err := h.beginNudge(ctx, rec.ID)
	if err != nil || line == "" {
		return err
	}
	switch err := a.Text(ctx, line, true); {
	case err == nil:
		return h.endNudge(ctx, rec.ID, registry.BroughtNudge)
	case !term.given:
		return errors.Join(err, h.endNudge(ctx, rec.ID, ""))
	case term.entered:
		// A slow agent may still take it. Enter must not be pressed again.
		return errors.Join(err, h.endNudge(ctx, rec.ID, registry.BroughtUnproven))
	default:
		return err // it stands at the prompt, or will: the next look tells
	}
}

// leftNudge returns the line that somebody has begun to type for the agent of a worker,
// and has left; empty: there is none.
func (h *Host) leftNudge(ctx context.Context, id string) (line string, err error) {
	err = h.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		n, err := tx.Nudge(ctx, id)
		line = n.Text
		return err
	})
	if errors.Is(err, registry.ErrNotFound) {
		err = nil
	}
	return line, err
}

// finishNudge submits a line that was left at the prompt. If it is not there it was
// submitted, or never typed, or removed: nobody knows, so it is not typed again.
func (h *Host) finishNudge(ctx context.Context, a *deliver.Agent, id, line string) error {
	pressed, err := a.Submit(ctx, line)
	switch {
	case err == nil && pressed:
		return h.endNudge(ctx, id, registry.BroughtNudge)
	case err == nil || pressed:
		return errors.Join(err, h.endNudge(ctx, id, registry.BroughtUnproven))
	default:
		return err // it can't be seen now
	}
}

// beginNudge records that a line is about to be typed, and returns it; empty: nothing
// is waiting.
func (h *Host) beginNudge(ctx context.Context, id string) (line string, err error) {
	err = h.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		news, err := team.Waiting(ctx, tx, id)
		if line = team.Line(news); err != nil || line == "" {
			return err
		}
		return errors.Join(bring(ctx, tx, news, registry.BroughtNudging), tx.BeginNudge(ctx, id, registry.Nudge{Text: line, Begun: time.Now()}))
	})
	return line, err
}

// endNudge records what came of a line that was to be typed.
func (h *Host) endNudge(ctx context.Context, id string, how registry.Brought) error {
	return h.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		all, _, err := team.Memberships(ctx, tx, id)
		if err != nil {
			return err
		}
		for _, m := range all {
			if err := tx.EndNudging(ctx, m, how, time.Now()); err != nil {
				return err
			}
		}
		return tx.EndNudge(ctx, id)
	})
}

// inputTerminal is a terminal that knows whether it was given anything, and whether
// Enter was.
type inputTerminal struct {
	terminal
	given, entered bool
}

func (t *inputTerminal) Input(ctx context.Context, in swarm.Input) (swarm.InputResult, error) {
	out, err := t.terminal.Input(ctx, in)
	// Input that the backend itself reports as unavailable was not given.
	refused := errors.Is(err, swarm.ErrUnavailable) && !errors.Is(err, plugin.ErrPluginGone) && ctx.Err() == nil
	t.given, t.entered = t.given || !refused, t.entered || in.Enter
	return out, err
}
