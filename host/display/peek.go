package display

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/output"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// PeekLines is how many lines of output Peek returns unless the caller says how many.
const PeekLines = 30

// Peek is what a worker showed last.
type Peek struct {
	Worker worker.Worker
	// Lines are plain text.
	Lines []string
	// Styled are the lines of a screen with SGR sequences; nil: the styles are not known.
	Styled []string
	// Columns, Rows and Cursor are those of the screen, see [swarm.Screen].
	Columns, Rows int
	Cursor        *swarm.Cursor
	// Screen says that they are from its screen, else they are the last lines of
	// its output.
	Screen bool
	// Taken says that the worker has ended and that its screen is the last one.
	Taken bool
}

// Peek returns the last lines of a worker's screen, or of its output where it has
// no screen, as plain text, whether it runs or has ended. lines is how many; 0: the
// visible screen, or [PeekLines] lines of output.
func (d *Reader) Peek(ctx context.Context, name string, lines int) (Peek, error) {
	recs, _, err := d.Roster.See(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return Peek{}, err
	}
	rec := recs[0]
	p := Peek{Worker: d.Roster.Observe(ctx, recs)[0]}
	if rec.Handle.IsZero() {
		return p, nil // it was never started
	}
	err = d.Plugins.AskOwner(ctx, &rec, true, func(owner *backend.Peer) error { return p.look(ctx, owner, rec, lines) })
	switch {
	case errors.Is(err, swarm.ErrUnsupported):
		err = worker.Unsupported(rec.Backend, swarm.CapOutput, rec.Name)
	case errors.Is(err, swarm.ErrNotFound):
		err = fmt.Errorf("the output of '%s' is gone: %w", rec.Name, err)
	}
	return p, err
}

func (p *Peek) look(ctx context.Context, owner *backend.Peer, rec registry.Record, lines int) error {
	if owner.Has(swarm.CapScreen) {
		ctx, cancel := owner.Within(ctx, backend.StatusLimit)
		defer cancel()
		s, err := owner.Backend.Screen(ctx, rec.Handle, swarm.ScreenOptions{Lines: lines, Styles: true})
		// A worker that ended with its engine has no screen any more, but still has
		// its output.
		if err == nil || !errors.Is(err, swarm.ErrNotFound) {
			p.Lines, p.Styled, p.Screen, p.Taken = s.Lines, s.Styled, true, s.Taken
			p.Columns, p.Rows, p.Cursor = s.Columns, s.Rows, s.Cursor
			return err
		}
	}
	if lines <= 0 {
		lines = PeekLines
	}
	limited, cancel := owner.Within(ctx, backend.StatusLimit)
	defer cancel()
	all, err := output.Last(limited, owner, rec.Handle, lines)
	if ctx.Err() == nil {
		err = backend.Late(err, rec.Backend, backend.StatusLimit)
	}
	p.Lines, p.Styled, p.Screen, p.Taken = all[max(0, len(all)-lines):], nil, false, false
	return err
}
