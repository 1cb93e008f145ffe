package notifier

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// nudgeLimit is how long a nudge may take; all of its steps have limits of their
	// own.
	nudgeLimit = 2 * time.Minute
	// noWait is the time to wait for a prompt when there is none to be waited for.
	noWait = time.Nanosecond
)

// nudge types one line at the prompt of a worker's agent about its waiting messages and
// tasks, and records the result. The caller has the lock of the worker's notifier process. It first
// records the line that it is about to type: after a crash, the next nudge finds the fate
// of that line instead of typing anything.
//
// quiet is how long the agent has been at its prompt. With empty nothing is typed if the
// prompt holds a text. A line that is begun is carried through whatever becomes of ctx.
func (n *Notifier) nudge(ctx context.Context, p *backend.Peer, rec registry.Record, prof *profile.Profile, quiet time.Duration, empty bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), nudgeLimit)
	defer cancel()
	unlock, err := n.Input.Lock(ctx, rec, prof)
	if err != nil {
		return err
	}
	defer unlock()
	term := &inputTerminal{Terminal: input.Terminal{Peer: p, Handle: rec.Handle}}
	a := &deliver.Agent{Name: rec.Name, Profile: prof, Terminal: term, Timeout: noWait, Idle: true, Quiet: quiet, Empty: empty}
	left, err := n.left(ctx, rec.ID)
	if err != nil {
		return err
	}
	if left != "" {
		return n.finish(ctx, a, rec.ID, left)
	}
	line, err := n.begin(ctx, rec.ID)
	if err != nil || line == "" {
		return err
	}
	switch err := a.Text(ctx, line, true); {
	case err == nil:
		return n.end(ctx, rec.ID, registry.DeliveredNudge)
	case !term.given:
		return errors.Join(err, n.end(ctx, rec.ID, ""))
	case term.entered:
		// A slow agent may still take it. Enter must not be pressed again.
		return errors.Join(err, n.end(ctx, rec.ID, registry.DeliveredUnproven))
	default:
		return err // it stands at the prompt, or will: the next look shows which
	}
}

// left returns the line that a crashed notifier process has begun to type for the agent of a worker,
// or "".
func (n *Notifier) left(ctx context.Context, id string) (line string, err error) {
	err = n.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		n, err := tx.Nudge(ctx, id)
		line = n.Text
		return err
	})
	if errors.Is(err, registry.ErrNotFound) {
		err = nil
	}
	return line, err
}

// finish submits a line that was left at the prompt. If it is gone, it was submitted, never
// typed, or removed. That is unknown, so it is not typed again.
func (n *Notifier) finish(ctx context.Context, a *deliver.Agent, id, line string) error {
	pressed, err := a.Submit(ctx, line)
	switch {
	case err == nil && pressed:
		return n.end(ctx, id, registry.DeliveredNudge)
	case err == nil || pressed:
		return errors.Join(err, n.end(ctx, id, registry.DeliveredUnproven))
	default:
		return err // it can't be seen now
	}
}

// begin records that a line is about to be typed, and returns it; empty: nothing
// is waiting.
func (n *Notifier) begin(ctx context.Context, id string) (line string, err error) {
	err = n.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		pending, err := team.PendingOf(ctx, tx, id)
		if line = team.Line(pending); err != nil || line == "" {
			return err
		}
		return errors.Join(team.Deliver(ctx, tx, pending, registry.DeliveredNudging), tx.BeginNudge(ctx, id, registry.Nudge{Text: line, Begun: time.Now()}))
	})
	return line, err
}

func (n *Notifier) end(ctx context.Context, id string, how registry.Delivery) error {
	return n.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
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
	input.Terminal
	given, entered bool
}

func (t *inputTerminal) Input(ctx context.Context, in swarm.Input) (swarm.InputResult, error) {
	out, err := t.Terminal.Input(ctx, in)
	// An input that the backend says can't be given now was not given.
	refused := errors.Is(err, swarm.ErrUnavailable) && !errors.Is(err, client.ErrPluginGone) && ctx.Err() == nil
	t.given, t.entered = t.given || !refused, t.entered || in.Enter
	return out, err
}
