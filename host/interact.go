package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// inputLimit is how long a backend may take to give a worker something, which may
// be slow to read it.
const inputLimit = time.Minute

// living returns the record of a worker that is recorded as running. It waits for
// a spawn that is under way.
func (h *Host) living(ctx context.Context, rec registry.Record) (registry.Record, error) {
	var err error
	if rec.State == registry.Starting {
		rec, err = h.settled(ctx, rec)
	}
	if err == nil && rec.State != registry.Running {
		err = &endedError{name: rec.Name}
	}
	return rec, err
}

// interact asks the backend of a running worker for something that not every
// backend can do. It is never repeated: who does not know whether it was done must
// not do it twice.
func (h *Host) interact(ctx context.Context, rec registry.Record, need swarm.Capability, f func(context.Context, *backend.Peer) error) error {
	return h.interactWithin(ctx, inputLimit, rec, need, f)
}

// interactWithin is interact with another limit.
func (h *Host) interactWithin(ctx context.Context, limit time.Duration, rec registry.Record, need swarm.Capability, f func(context.Context, *backend.Peer) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e, err := h.plugins.Entry(rec.Backend, rec.Plugin)
	if err == nil {
		err = h.plugins.AskBackend(ctx, e, false, func(p *backend.Peer) error {
			if !p.Has(need) {
				return &unsupportedError{backend: rec.Backend, cap: need, name: rec.Name}
			}
			return f(ctx, p)
		})
	}
	switch {
	case errors.Is(err, swarm.ErrNotFound):
		return &endedError{name: rec.Name}
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: backend '%s' did not answer within %s", swarm.ErrUnavailable, rec.Backend, limit)
	default:
		return err
	}
}

// naming adds to an error what failed and with whom, unless it says so already.
func naming(err error, what, name string) error {
	if err == nil {
		return nil
	}
	for _, told := range []error{ErrEnded, ErrDeaf, swarm.ErrUnsupported, errPassedOver} {
		if errors.Is(err, told) {
			return err
		}
	}
	if deliver.Names(err) {
		return err
	}
	return &namedError{error: err, subject: fmt.Sprintf("%s '%s'", what, name)}
}

// namedError says what failed.
type namedError struct {
	error
	subject string
}

func (e *namedError) Error() string {
	return e.subject + ": " + wording(e.error)
}

func (e *namedError) Unwrap() error { return e.error }
