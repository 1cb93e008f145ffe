package input

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/lockfile"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

type DeliverRequest struct {
	// Text is any bytes, at most [swarm.MaxInput].
	Text []byte
	// Enter says to submit it.
	Enter bool
	// Timeout is how long to wait for an agent's prompt; 0: [deliver.DefaultTimeout].
	Timeout time.Duration
}

// Deliver gives a text to the selected workers, as [Sender.Send] does. A worker on a
// terminal whose profile knows its prompt and its dialogs is looked at first: at a
// dialog, on an error screen or without a prompt nothing is typed, and the outcome is
// confirmed only if its screen shows that the text was taken. See [deliver.Agent.Text]
// for the errors.
func (s *Sender) Deliver(ctx context.Context, sel worker.Selection, req DeliverRequest) ([]Outcome, error) {
	in := swarm.Input{Data: req.Text, Enter: req.Enter}
	// The limit of an interaction is for a worker that needs no prompt first.
	limit := max(req.Timeout, deliver.DefaultTimeout) + inputLimit
	return s.give(ctx, sel, in, limit, true, func(ctx context.Context, p *backend.Peer, rec registry.Record) (Outcome, error) {
		prof := s.Display.ProfileOf(&rec)
		if !CanLook(p, rec, prof) {
			if s.asks(&rec) {
				if err := s.mayApprove(ctx, rec); err != nil {
					return Outcome{}, err
				}
			}
			return s.sendTo(ctx, p, rec, in)
		}
		unlock, err := s.Lock(ctx, rec, prof)
		if err != nil {
			return Outcome{}, err
		}
		defer unlock()
		a := s.agentOf(p, rec, prof)
		a.Timeout, a.Notes = req.Timeout, deliveryNote(s.Dir.RunDir(rec.ID))
		err = s.withHint(ctx, rec, a.Text(ctx, string(req.Text), req.Enter))
		return Outcome{Confirmed: err == nil}, err
	})
}

// CanLook reports whether deliveries to a worker can be seen to arrive.
func CanLook(p *backend.Peer, rec registry.Record, prof *profile.Profile) bool {
	return deliver.Supports(prof) && p.Has(swarm.CapScreen) && !prof.Headless(rec.Command)
}

// Answer picks a choice of the dialog that a worker's agent shows, and returns when the
// dialog is gone. See [deliver.Agent.Answer].
func (s *Sender) Answer(ctx context.Context, name string, r deliver.Reply) (deliver.Answered, error) {
	return s.AnswerFor(ctx, name, "", r)
}

// AnswerFor is [Sender.Answer] with a text for the history that says who answers, such as a rule
// of the person's config; empty: the caller. The caller has to have the right to answer in any
// case.
func (s *Sender) AnswerFor(ctx context.Context, name, who string, r deliver.Reply) (deliver.Answered, error) {
	recs, _, err := s.Roster.Pick(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return deliver.Answered{}, err
	}
	rec := recs[0]
	if err := s.mayApprove(ctx, rec); err != nil {
		return deliver.Answered{}, err
	}
	rec, err = s.live(ctx, rec)
	var out deliver.Answered
	undecided := s.Display.Undecided(rec.ID)
	switch {
	case err != nil:
	case undecided != nil:
		out, err = s.decide(ctx, &rec, undecided, r)
	default:
		err = s.interact(ctx, rec, swarm.CapInput, func(ctx context.Context, p *backend.Peer) error {
			prof := s.Display.ProfileOf(&rec)
			if !CanLook(p, rec, prof) {
				return dialogsUnknown(rec.Name)
			}
			unlock, err := s.Lock(ctx, rec, prof)
			if err != nil {
				return err
			}
			defer unlock()
			out, err = s.agentOf(p, rec, prof).Answer(ctx, r)
			return err
		})
	}
	if err != nil {
		return out, worker.WithName(err, "cannot answer", rec.Name)
	}
	if out.Open {
		return out, nil // nothing was sent
	}
	if who == "" {
		who = s.caller(ctx)
	}
	err = s.Store.Change(context.WithoutCancel(ctx), func(ctx context.Context, tx *registry.Tx) error {
		return display.RecordAnswer(ctx, tx, &rec, out.Question, out.Picked(), who)
	})
	if err != nil {
		return out, fmt.Errorf("'%s' was answered, but the history does not have it: %w", rec.Name, err)
	}
	return out, nil
}

// caller says in a few words who calls.
func (s *Sender) caller(ctx context.Context) string {
	who, err := s.Roster.Callers.Caller(ctx)
	switch {
	case err != nil:
		return "an unknown caller"
	case who.Person:
		return "a person"
	case who.Agent != "":
		return "agent " + who.Name + " of team " + who.Team
	default:
		return "worker " + who.WorkerID
	}
}

func (s *Sender) agentOf(p *backend.Peer, rec registry.Record, prof *profile.Profile) *deliver.Agent {
	a := &deliver.Agent{Name: rec.Name, Profile: prof, Terminal: &Terminal{Peer: p, Handle: rec.Handle}}
	if last := s.Dir.LastOutput(rec.ID); !last.IsZero() {
		a.Quiet = max(0, time.Since(last)) // the clock may have been set back
	}
	return a
}

// Terminal is the terminal of a worker, a [deliver.Terminal].
type Terminal struct {
	Peer   *backend.Peer
	Handle swarm.Handle
}

func (t *Terminal) Screen(ctx context.Context) (profile.Screen, error) {
	s, err := t.Peer.Backend.Screen(ctx, t.Handle, swarm.ScreenOptions{Styles: true})
	if err == nil && s.Taken {
		err = swarm.ErrNotFound
	}
	return profile.Screen{Lines: s.Lines, Styled: s.Styled}, err
}

func (t *Terminal) Input(ctx context.Context, in swarm.Input) (swarm.InputResult, error) {
	return t.Peer.Backend.Input(ctx, t.Handle, in)
}

// Lock takes the lock that keeps the deliveries to a worker apart: looks, text and
// Enter of one belong together. Workers whose screens are not looked at need none.
func (s *Sender) Lock(ctx context.Context, rec registry.Record, prof *profile.Profile) (unlock func(), err error) {
	if !deliver.Supports(prof) {
		return func() {}, nil
	}
	unlock, err = lockfile.Lock(ctx, s.Dir.LockPath(rec.ID)+".input")
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: another call is giving it a text", swarm.ErrUnavailable)
	}
	return unlock, err
}

// noteFile is the file in a run directory that says of a delivery that it began.
const noteFile = "typed.json"

const maxNote = 1 << 10

// deliveryNote is the run directory of a worker with the note of its delivery, which is
// written while the worker's input is locked. Like its screen, the note is the worker's to
// forge: all that it can make swarm do is to type less.
type deliveryNote string

func (dir deliveryNote) path() string { return filepath.Join(string(dir), noteFile) }

func (dir deliveryNote) Load() (n deliver.Note, err error) {
	b, err := safefile.Read(dir.path(), maxNote)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return n, nil
	case err != nil:
		return n, fmt.Errorf("read what an earlier call typed: %w", err)
	case json.Unmarshal(b, &n) != nil:
		return deliver.Note{}, nil //nolint:nilerr // half written: nothing was typed after that
	}
	return n, nil
}

func (dir deliveryNote) Save(n deliver.Note) error {
	err := os.Remove(dir.path())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && n != (deliver.Note{}) {
		err = dir.create(n)
	}
	if err != nil {
		return fmt.Errorf("note how far a delivery is: %w", err)
	}
	return nil
}

func (dir deliveryNote) create(n deliver.Note) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	f, err := safefile.Create(dir.path())
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
