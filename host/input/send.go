package input

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Outcome says what came of an input to one worker, of a pause, of its end, or of new limits.
type Outcome struct {
	Worker worker.Worker
	// Pending says that the worker has the input but has not read all of it yet.
	Pending bool
	// Confirmed says that the worker was seen to take it: on its screen, or at its end
	// of a pipe.
	Confirmed bool
	// Err is nil if the worker has it, or if it was done. Its text names the worker, or the
	// backend that can do nothing of the kind.
	Err error
}

var errPassedOver = errors.New("takes no input")

// Send gives an input to the selected workers, all at the same time, whatever they
// show; see [Sender.Deliver] for texts to agents. An unknown
// name is a [store.ErrNotFound], and nothing was sent then. With All or Tag it
// passes over workers that do not run and those that take no input. Whatever
// happens to one worker afterwards is in its outcome; outcomes are in the order of
// the selection.
func (s *Sender) Send(ctx context.Context, sel worker.Selection, in swarm.Input) ([]Outcome, error) {
	return s.give(ctx, sel, in, inputLimit, false, func(ctx context.Context, p *backend.Peer, rec registry.Record) (Outcome, error) {
		return s.sendTo(ctx, p, rec, in)
	})
}

func (s *Sender) sendTo(ctx context.Context, p *backend.Peer, rec registry.Record, in swarm.Input) (Outcome, error) {
	prof := s.Display.ProfileOf(&rec)
	if in.Kind == swarm.InputText && prof != nil {
		in.EnterAfter = min(prof.PasteGuard(), swarm.MaxEnterAfter)
	}
	if in.Kind == swarm.InputText || in.Kind == swarm.InputKeys {
		unlock, err := s.Lock(ctx, rec, prof)
		if err != nil {
			return Outcome{}, err
		}
		defer unlock()
	}
	r, err := p.Backend.Input(ctx, rec.Handle, in)
	return Outcome{Pending: r.Pending, Confirmed: !r.Pending && !p.Has(swarm.CapScreen)}, err
}

// giver gives something to a worker of a backend. The outcome has no worker and no
// error yet.
type giver func(ctx context.Context, p *backend.Peer, rec registry.Record) (Outcome, error)

// give has give run for each of the selected workers that takes such an input, each
// within the limit. looks says that give looks at the screens of agents before it types.
func (s *Sender) give(ctx context.Context, sel worker.Selection, in swarm.Input, limit time.Duration, looks bool, give giver) ([]Outcome, error) {
	if len(in.Data) > swarm.MaxInput {
		return nil, worker.Invalid("cannot send more than %d bytes at once", swarm.MaxInput)
	}
	recs, _, err := s.Roster.Pick(ctx, sel)
	if err != nil {
		return nil, err
	}
	if disturbs(in) {
		if err := s.Roster.MayEnd(ctx, recs...); err != nil {
			return nil, err
		}
	}
	named := len(sel.Names) > 0
	all := make([]Outcome, len(recs))
	var wg sync.WaitGroup
	for i, r := range recs {
		if s.canApprove(in, looks, &recs[i]) {
			err := s.mayApprove(ctx, r)
			if err != nil && (named || in.Kind == swarm.InputKeys) {
				wg.Wait()
				return nil, err
			}
			if err != nil {
				all[i] = Outcome{Worker: worker.Of(r), Err: worker.WithName(err, "cannot send to", r.Name)}
				continue
			}
		}
		wg.Go(func() { all[i] = s.giveOne(ctx, r, in.Kind, named, limit, give) })
	}
	wg.Wait()
	var outcomes []Outcome
	for _, out := range all {
		if named || !errors.Is(out.Err, errPassedOver) && !errors.Is(out.Err, worker.ErrEnded) {
			outcomes = append(outcomes, out)
		}
	}
	return outcomes, nil
}

// disturbs reports whether an input is more than a text to a program: what ends or
// stops it on a terminal does so however it is sent.
func disturbs(in swarm.Input) bool {
	const interrupt, eof, suspend, quit = "\x03", "\x04", "\x1a", "\x1c"
	return in.Kind != swarm.InputText || bytes.ContainsAny(in.Data, interrupt+eof+suspend+quit)
}

func (s *Sender) giveOne(ctx context.Context, rec registry.Record, kind swarm.InputKind, named bool, limit time.Duration, give giver) Outcome {
	rec, err := s.live(ctx, rec)
	var out Outcome
	if err == nil {
		err = s.interactWithin(ctx, limit, rec, swarm.CapInput, func(ctx context.Context, p *backend.Peer) (err error) {
			switch takes := takes(p, rec, kind); {
			case !takes && named:
				return worker.Deaf(rec.Name, p.Local || p.Has(swarm.CapAttach))
			case !takes:
				return errPassedOver
			}
			out, err = give(ctx, p, rec)
			return err
		})
	}
	out.Worker = worker.Of(rec)
	if err == nil {
		out.Worker.Status = worker.StatusRunning
	}
	if !named && errors.Is(err, swarm.ErrUnsupported) {
		err = errPassedOver
	}
	if !errors.Is(err, errPassedOver) {
		err = worker.WithName(err, "cannot send to", rec.Name)
	}
	out.Err = err
	return out
}

// takes reports whether a worker of a backend that takes input does so itself: one
// that is on no terminal has a standard input only if it was asked for.
func takes(p *backend.Peer, rec registry.Record, kind swarm.InputKind) bool {
	onTerminal := p.Has(swarm.CapScreen) || rec.Options[swarm.OptionTTY] == "true"
	return kind == swarm.InputInterrupt || rec.Stdin || onTerminal || !p.Has(swarm.CapStdin)
}
