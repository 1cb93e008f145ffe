package host

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/history"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/ready"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// DefaultReadyTimeout is how long to wait for a worker to be ready when nobody
// says how long.
const DefaultReadyTimeout = 2 * time.Minute

// ReadyRequest says how to tell that a worker is ready.
type ReadyRequest struct {
	// Pattern matches a line of its screen or of its output; nil: the prompt that its
	// profile knows, or, without one, what agents and shells show, see [ready.Lines].
	Pattern *regexp.Regexp
	// Timeout is how long to wait; 0: [DefaultReadyTimeout].
	Timeout time.Duration
}

// ready reports whether lines say that a worker is ready.
func (r ReadyRequest) ready(lines []string) bool {
	if r.Pattern == nil {
		return ready.Lines(lines)
	}
	return slices.ContainsFunc(lines, r.Pattern.MatchString)
}

// AwaitReady returns nil as soon as a worker shows that it is ready, or has shown
// it before. It is an [ErrNotReady] if it does not within the time, an [*AsksError] if
// it asks something first, an [ErrBroken] if it shows an error, and an [ErrEnded] if
// it ends before. It writes nothing.
func (h *Host) AwaitReady(ctx context.Context, name string, r ReadyRequest) error {
	if r.Timeout <= 0 {
		r.Timeout = DefaultReadyTimeout
	}
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	rec, err := h.begun(limited, name)
	if err == nil {
		err = h.followReady(limited, rec, r)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Errorf("%w: '%s' did not become ready within %s", ErrNotReady, name, r.Timeout)
	case errors.Is(err, ErrEnded):
		// How, is known by now.
		ended := &endedEarlyError{name: rec.Name, exit: h.observe(ctx, []registry.Record{rec})[0].Exit}
		if text := h.brokenAtEnd(ctx, &rec); text != "" {
			return &brokenError{name: rec.Name, text: text, ended: ended}
		}
		return ended
	default:
		return err
	}
}

// begun returns the record of a worker whose spawn is over, for reading; it waits
// for that.
func (h *Host) begun(ctx context.Context, name string) (registry.Record, error) {
	recs, _, err := h.choose(ctx, Selection{Names: []string{name}})
	if err != nil {
		return registry.Record{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting && h.dir.Locked(rec.ID) {
		unlock, err := h.dir.Lock(ctx, rec.ID)
		if err != nil {
			return rec, err
		}
		unlock()
	}
	if rec.State == registry.Starting {
		reg, err := h.store.Reading(ctx)
		if err == nil {
			rec, err = restored(ctx, reg, rec)
		}
		if err != nil {
			return rec, err
		}
	}
	switch rec.State {
	case registry.Running:
		return rec, nil
	case registry.Stopped:
		return rec, &endedError{name: rec.Name}
	default:
		return rec, fmt.Errorf("cannot wait for '%s': its %s", rec.Name, history.ReasonInterrupted)
	}
}

func (h *Host) followReady(ctx context.Context, rec registry.Record, r ReadyRequest) error {
	e, err := h.plugins.Entry(rec.Backend, rec.Plugin)
	if err != nil {
		return err
	}
	err = h.plugins.AskBackend(ctx, e, true, func(p *backend.Peer) error {
		if !p.Has(swarm.CapOutput) {
			return &unsupportedError{backend: rec.Backend, cap: swarm.CapOutput, name: rec.Name}
		}
		if known := h.profileOf(&rec); known != nil && r.Pattern == nil && p.Has(swarm.CapScreen) {
			return followProfile(ctx, p, rec, known)
		}
		return followReady(ctx, p, rec.Handle, r)
	})
	if errors.Is(err, swarm.ErrNotFound) {
		return &endedError{name: rec.Name}
	}
	return err
}

// endedEarlyError says that a worker ended before it was ready.
type endedEarlyError struct {
	name string
	exit *swarm.Exit
}

func (e *endedEarlyError) Error() string {
	how := ""
	switch {
	case e.exit == nil:
	case e.exit.Signal != "":
		how = fmt.Sprintf(" (%s)", e.exit.Signal)
	default:
		how = fmt.Sprintf(" (exit %d)", e.exit.Code)
	}
	return fmt.Sprintf("agent '%s' ended before it was ready%s", e.name, how)
}
func (e *endedEarlyError) Is(target error) bool { return target == ErrEnded }
