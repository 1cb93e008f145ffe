package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// SendOutcome says what came of an input to one worker.
type SendOutcome struct {
	Worker Worker
	// Pending says that the worker has it but had not read all of it yet.
	Pending bool
	// Confirmed says that the worker was seen to take it: on its screen, or at its end
	// of a pipe.
	Confirmed bool
	// Err is nil if the worker has it. Its text names the worker, or the backend
	// that can do nothing of the kind.
	Err error
}

// errPassedOver says that a worker was not meant.
var errPassedOver = errors.New("takes no input")

// Send gives an input to the selected workers, all at the same time, whatever they
// show; see [Host.Deliver] for texts to agents. An unknown
// name is an [ErrNotFound], and nobody was sent anything then. With All or Tag it
// passes over workers that do not run and those that take no input. Whatever
// happens to one worker afterwards is in its outcome; outcomes are in the order of
// the selection.
func (h *Host) Send(ctx context.Context, sel Selection, in swarm.Input) ([]SendOutcome, error) {
	return h.give(ctx, sel, in, inputLimit, func(ctx context.Context, p *backend.Peer, rec registry.Record) (SendOutcome, error) {
		return h.sendTo(ctx, p, rec, in)
	})
}

// sendTo gives an input to one worker.
func (h *Host) sendTo(ctx context.Context, p *backend.Peer, rec registry.Record, in swarm.Input) (SendOutcome, error) {
	prof := h.profileOf(&rec)
	if in.Kind == swarm.InputText && prof != nil {
		in.EnterAfter = min(prof.PasteGuard(), swarm.MaxEnterAfter)
	}
	if in.Kind == swarm.InputText || in.Kind == swarm.InputKeys {
		unlock, err := h.lockInput(ctx, rec, prof)
		if err != nil {
			return SendOutcome{}, err
		}
		defer unlock()
	}
	r, err := p.Backend.Input(ctx, rec.Handle, in)
	return SendOutcome{Pending: r.Pending, Confirmed: !r.Pending && !p.Has(swarm.CapScreen)}, err
}

// giver gives something to a worker of a backend. The outcome has no worker and no
// error yet.
type giver func(ctx context.Context, p *backend.Peer, rec registry.Record) (SendOutcome, error)

// give has give run for each of the selected workers that takes such an input, each
// within the limit.
func (h *Host) give(ctx context.Context, sel Selection, in swarm.Input, limit time.Duration, give giver) ([]SendOutcome, error) {
	if len(in.Data) > swarm.MaxInput {
		return nil, &specError{text: fmt.Sprintf("cannot send more than %d bytes at once", swarm.MaxInput)}
	}
	recs, _, err := h.chooseNamed(ctx, sel)
	if err != nil {
		return nil, err
	}
	if disturbs(in) {
		if err := h.mayEnd(ctx, recs...); err != nil {
			return nil, err
		}
	}
	if in.Kind == swarm.InputKeys {
		if at := h.callerAmong(recs); at >= 0 {
			return nil, &ownDialogError{name: recs[at].Name}
		}
	}
	named := len(sel.Names) > 0
	all := make([]SendOutcome, len(recs))
	var wg sync.WaitGroup
	for i, r := range recs {
		wg.Go(func() { all[i] = h.giveOne(ctx, r, in.Kind, named, limit, give) })
	}
	wg.Wait()
	var told []SendOutcome
	for _, out := range all {
		if named || !errors.Is(out.Err, errPassedOver) && !errors.Is(out.Err, ErrEnded) {
			told = append(told, out)
		}
	}
	return told, nil
}

// disturbs reports whether an input is more than a text to a program: what ends or
// stops it on a terminal does so however it is sent.
func disturbs(in swarm.Input) bool {
	const interrupt, eof, suspend, quit = "\x03", "\x04", "\x1a", "\x1c"
	return in.Kind != swarm.InputText || bytes.ContainsAny(in.Data, interrupt+eof+suspend+quit)
}

func (h *Host) giveOne(ctx context.Context, rec registry.Record, kind swarm.InputKind, named bool, limit time.Duration, give giver) SendOutcome {
	rec, err := h.living(ctx, rec)
	var out SendOutcome
	if err == nil {
		err = h.interactWithin(ctx, limit, rec, swarm.CapInput, func(ctx context.Context, p *backend.Peer) error {
			switch takes := takes(p, rec, kind); {
			case !takes && named:
				return &deafError{name: rec.Name}
			case !takes:
				return errPassedOver
			}
			var err error
			out, err = give(ctx, p, rec)
			return err
		})
	}
	out.Worker = worker(rec)
	if err == nil {
		out.Worker.Status = StatusRunning
	}
	if !named && errors.Is(err, swarm.ErrUnsupported) {
		err = errPassedOver
	}
	out.Err = naming(err, "cannot send to", rec.Name)
	return out
}

// takes reports whether a worker of a backend that takes input does so itself: one
// that is on no terminal has a standard input only if it was asked for.
func takes(p *backend.Peer, rec registry.Record, kind swarm.InputKind) bool {
	return kind == swarm.InputInterrupt || rec.Stdin || p.Has(swarm.CapScreen) || !p.Has(swarm.CapStdin)
}
