package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// mayApprove refuses a caller that may not approve what workers ask: their own processes,
// those that may be, and those without the right to end them. It is asked before everything that can approve
// something: an answer, keys, an attachment, and a text that is typed whatever the screen
// shows.
func (s *Sender) mayApprove(ctx context.Context, recs ...registry.Record) error {
	if err := s.Roster.MayEnd(ctx, recs...); err != nil {
		return err
	}
	if at := s.Roster.Own(recs); at >= 0 {
		return worker.Hinted(
			fmt.Sprintf("'%s' can't press its own keys: what it asks is for others to answer", recs[at].Name),
			personAnswers,
		)
	}
	if at := s.hidden(recs); at >= 0 {
		return worker.Hinted(
			fmt.Sprintf("this process may be a part of '%s', which can't be seen from here: it runs in another PID namespace", recs[at].Name),
			personAnswers,
		)
	}
	return s.mayLead(ctx, recs)
}

// hidden returns the place of a worker of which the caller may be a part without seeing it, or -1.
func (s *Sender) hidden(recs []registry.Record) int {
	return slices.IndexFunc(recs, func(r registry.Record) bool { return s.Dir.Hidden(r.ID) })
}

// mayLead refuses to approve what agents of teams ask to all but a person, unless the person
// lets the leaders do that.
func (s *Sender) mayLead(ctx context.Context, recs []registry.Record) error {
	at := slices.IndexFunc(recs, func(r registry.Record) bool { return r.Agent != "" })
	if s.LeaderAnswers || at < 0 {
		return nil
	}
	who, err := s.Roster.Callers.Caller(ctx)
	if err != nil || who.Person {
		return err
	}
	return worker.Hinted(
		fmt.Sprintf("only a person may answer what '%s' asks, or press its keys", recs[at].Name),
		`to let the leader of its team do that, a person sets answers = "leader" below [team] in ~/.config/swarm/config.toml`,
	)
}

// MayAnswer returns nil if the caller may answer what workers ask, in any way. The error says
// why it may not.
func (s *Sender) MayAnswer(ctx context.Context, recs ...registry.Record) error {
	return s.mayApprove(ctx, recs...)
}

const personAnswers = "a person answers it from a terminal outside of the worker and its terminal session"

// withHint returns the error of a delivery without the hint to answer the dialog that was found,
// if the caller may not do that.
func (s *Sender) withHint(ctx context.Context, rec registry.Record, err error) error {
	asks, ok := errors.AsType[*deliver.AsksError](err)
	if !ok {
		asks = deliver.AsksNow(err)
	}
	if asks == nil {
		return err
	}
	switch no := s.mayApprove(ctx, rec); {
	case no == nil:
	case s.Roster.Own([]registry.Record{rec}) >= 0:
		asks.Other = personAnswers
	case s.LeaderAnswers:
		asks.Other = "its leader or a person may answer it"
	default:
		asks.Other = "a person answers it"
	}
	return err
}

// canApprove reports whether an input can answer what a worker asks without a look at it.
// looks says that a text is typed only at the prompt of an agent whose dialogs are known.
func (s *Sender) canApprove(in swarm.Input, looks bool, rec *registry.Record) bool {
	switch in.Kind {
	case swarm.InputKeys:
		return true
	case swarm.InputText:
	case swarm.InputInterrupt, swarm.InputEOF:
		return false
	}
	if s.asks(rec) {
		return !looks || runsCommand(in.Data)
	}
	// A program on a terminal may show dialogs that swarm does not know. A team-mate may send
	// a text to such an agent, but not say that it is to be typed at whatever is shown.
	recs := []registry.Record{*rec}
	return !rec.Stdin && (rec.Agent != "" && !looks || s.Roster.Own(recs) >= 0 || s.hidden(recs) >= 0)
}

// runsCommand reports whether an agent may run a text as a command of a shell, without asking: Codex
// does that with what is behind a "!".
func runsCommand(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("!")) }

// asks reports whether a worker is an agent whose dialogs are known.
func (s *Sender) asks(rec *registry.Record) bool {
	prof := s.Display.ProfileOf(rec)
	return deliver.Supports(prof) && !prof.Headless(rec.Command)
}

type KeysRequest struct {
	// Keys are names of keys with a blank between them, see [swarm.InputKeys].
	Keys string
	// Digest is that of the dialog for which the keys are, see [profile.Dialog]: if an agent
	// shows another one, no key is pressed, and the error is a [deliver.ErrChanged]. Empty:
	// they are pressed whatever is shown.
	Digest string
}

// Press presses keys of the selected workers, as [Sender.Send] does.
func (s *Sender) Press(ctx context.Context, sel worker.Selection, req KeysRequest) ([]Outcome, error) {
	in := swarm.Input{Kind: swarm.InputKeys, Data: []byte(req.Keys)}
	if req.Digest == "" {
		return s.Send(ctx, sel, in)
	}
	return s.give(ctx, sel, in, inputLimit, false, func(ctx context.Context, p *backend.Peer, rec registry.Record) (Outcome, error) {
		prof := s.Display.ProfileOf(&rec)
		if !CanLook(p, rec, prof) {
			return Outcome{}, dialogsUnknown(rec.Name)
		}
		unlock, err := s.Lock(ctx, rec, prof)
		if err != nil {
			return Outcome{}, err
		}
		defer unlock()
		if err := s.agentOf(p, rec, prof).Shows(ctx, req.Digest); err != nil {
			return Outcome{}, err
		}
		r, err := p.Backend.Input(ctx, rec.Handle, in)
		return Outcome{Pending: r.Pending}, err
	})
}

func dialogsUnknown(name string) error {
	return worker.Hinted(
		fmt.Sprintf("the dialogs of '%s' are not known: it has no profile that knows any", name),
		fmt.Sprintf("press keys with 'swarm keys %s KEY'", name),
	)
}
