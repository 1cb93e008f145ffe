package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// SendOutcome says what came of an input to one worker.
type SendOutcome struct {
	Worker Worker
	// Pending says that the worker has it but had not read all of it yet.
	Pending bool
	// Err is nil if the worker has it. Its text names the worker, or the backend
	// that can do nothing of the kind.
	Err error
}

// errPassedOver says that a worker was not meant.
var errPassedOver = errors.New("takes no input")

// Send gives an input to the selected workers, all at the same time. An unknown
// name is an [ErrNotFound], and nobody was sent anything then. With All or Tag it
// passes over workers that do not run and those that take no input. Whatever
// happens to one worker afterwards is in its outcome; outcomes are in the order of
// the selection.
func (h *Host) Send(ctx context.Context, sel Selection, in swarm.Input) ([]SendOutcome, error) {
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
	named := len(sel.Names) > 0
	all := make([]SendOutcome, len(recs))
	var wg sync.WaitGroup
	for i, r := range recs {
		wg.Go(func() { all[i] = h.sendOne(ctx, r, in, named) })
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

func (h *Host) sendOne(ctx context.Context, rec registry.Record, in swarm.Input, named bool) SendOutcome {
	rec, err := h.living(ctx, rec)
	var res swarm.InputResult
	if err == nil {
		err = h.interact(ctx, rec, swarm.CapInput, func(ctx context.Context, p *peer) error {
			switch takes := takes(p, rec, in.Kind); {
			case !takes && named:
				return &deafError{name: rec.Name}
			case !takes:
				return errPassedOver
			}
			var err error
			res, err = p.backend.Input(ctx, rec.Handle, in)
			return err
		})
	}
	out := SendOutcome{Worker: worker(rec), Pending: res.Pending}
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
func takes(p *peer, rec registry.Record, kind swarm.InputKind) bool {
	return kind == swarm.InputInterrupt || rec.Stdin || p.Has(swarm.CapScreen) || !p.Has(swarm.CapStdin)
}
