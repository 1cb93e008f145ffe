package input

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/roster"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Sender gives input to workers. Its methods may be called at the same time. Its fields are what it needs.
type Sender struct {
	Dir     statedir.Dir
	Plugins *backend.Plugins
	Store   *store.Store
	Display *display.Reader
	Roster  *roster.Roster
	Settler *settle.Settler
	// Env is the caller's environment, KEY=VALUE.
	Env []string
	// LeaderAnswers says that the leader of a team may answer what its agents ask, and press their keys;
	// otherwise only a person may.
	LeaderAnswers bool
}

// inputLimit is how long a backend may take to give a worker something, which may
// be slow to read it.
const inputLimit = time.Minute

// live returns the record of a worker that is recorded as running. It waits for
// a spawn that is under way.
func (s *Sender) live(ctx context.Context, rec registry.Record) (registry.Record, error) {
	var err error
	if rec.State == registry.Starting {
		rec, err = s.Settler.Settled(ctx, rec)
	}
	if err == nil && rec.State != registry.Running {
		err = worker.NotRunning(rec.Name)
	}
	return rec, err
}

// interact asks the backend of a running worker for something that not every backend can
// do. It is never repeated, since it may have been done already.
func (s *Sender) interact(ctx context.Context, rec registry.Record, need swarm.Capability, f func(context.Context, *backend.Peer) error) error {
	return s.interactWithin(ctx, inputLimit, rec, need, f)
}

// interactWithin is interact with another limit.
func (s *Sender) interactWithin(ctx context.Context, limit time.Duration, rec registry.Record, need swarm.Capability, f func(context.Context, *backend.Peer) error) error {
	ctx, cancel := s.Plugins.Within(ctx, rec.Backend, limit)
	defer cancel()
	err := s.Plugins.AskOwner(ctx, &rec, false, func(p *backend.Peer) error {
		if !p.Has(need) {
			return worker.Unsupported(rec.Backend, need, rec.Name)
		}
		return f(ctx, p)
	})
	if errors.Is(err, swarm.ErrNotFound) {
		return worker.NotRunning(rec.Name)
	}
	return backend.Late(err, rec.Backend, limit)
}

// SignalRequest says which signal to send to which processes.
type SignalRequest struct {
	// Signal is a name valid by [swarm.ParseSignal].
	Signal string
	// Mode says which processes get it; nil: those that the worker's kill policy
	// names.
	Mode *swarm.KillMode
}

// Signal sends a running worker a signal that is not meant to end it, and returns at once. If
// it ends the worker nevertheless, that is an exit of its own. A caller that may kill a
// team's worker may signal it.
func (s *Sender) Signal(ctx context.Context, name string, req SignalRequest) (worker.Worker, error) {
	signal, err := swarm.ParseSignal(req.Signal)
	if err != nil {
		return worker.Worker{}, err
	}
	recs, _, err := s.Roster.Pick(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return worker.Worker{}, err
	}
	if err := s.Roster.MayEnd(ctx, recs...); err != nil {
		return worker.Worker{}, err
	}
	rec, err := s.live(ctx, recs[0])
	o := swarm.SignalOptions{Signal: signal, Mode: rec.Kill.Mode}
	if req.Mode != nil {
		o.Mode = *req.Mode
	}
	if err == nil {
		err = s.interact(ctx, rec, swarm.CapSignal, func(ctx context.Context, p *backend.Peer) error {
			return p.Backend.Signal(ctx, rec.Handle, o)
		})
	}
	return worker.Of(rec), worker.WithName(err, "cannot signal", rec.Name)
}

// Resize sets the size of the terminal of a running worker, see [swarm.Resizer]. A caller that may
// kill a team's worker may resize it.
func (s *Sender) Resize(ctx context.Context, name string, columns, rows int) (worker.Worker, error) {
	recs, _, err := s.Roster.Pick(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return worker.Worker{}, err
	}
	if err := s.Roster.MayEnd(ctx, recs...); err != nil {
		return worker.Worker{}, err
	}
	rec, err := s.live(ctx, recs[0])
	if err == nil {
		err = s.interact(ctx, rec, swarm.CapResize, func(ctx context.Context, p *backend.Peer) error {
			return p.Backend.Resize(ctx, rec.Handle, columns, rows)
		})
	}
	return worker.Of(rec), worker.WithName(err, "cannot resize", rec.Name)
}

// Attach returns the program that connects a person's terminal with a running worker. It
// replaces the caller, which closes the host before; a read-only one gives the worker no input. A person at the terminal can end the
// programs there and answer what they ask, so only its leader may attach to a team's worker,
// and no worker to itself.
func (s *Sender) Attach(ctx context.Context, name string, readOnly bool) (swarm.Attachment, error) {
	recs, _, err := s.Roster.See(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return swarm.Attachment{}, err
	}
	if err := s.mayApprove(ctx, recs...); err != nil {
		return swarm.Attachment{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		return swarm.Attachment{}, fmt.Errorf("cannot attach to '%s': it is still starting", rec.Name)
	}
	var a swarm.Attachment
	if rec, err = s.live(ctx, rec); err == nil {
		err = s.interact(ctx, rec, swarm.CapAttach, func(ctx context.Context, p *backend.Peer) (err error) {
			a, err = p.Backend.Attach(ctx, rec.Handle, swarm.AttachOptions{Env: s.Env, ReadOnly: readOnly})
			if err == nil && readOnly && !a.ReadOnly {
				err = fmt.Errorf("%w: backend '%s' can't show a worker without giving it input", swarm.ErrUnsupported, rec.Backend)
			}
			return err
		})
	}
	if errors.Is(err, worker.ErrEnded) && rec.IsRunning() && s.Roster.Observe(ctx, []registry.Record{rec})[0].Status == worker.StatusRunning {
		// The worker has not ended, its window has.
		err = worker.Hinted("it is running (no window)", fmt.Sprintf("its window was closed, or the tmux server ended: "+
			"follow what it writes with 'swarm logs %[1]s --follow', or start it again in a new window with 'swarm respawn %[1]s'", rec.Name))
	}
	return a, worker.WithName(err, "cannot attach to", rec.Name)
}
