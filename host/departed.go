package host

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
)

// awaited returns the records of those to wait for. Whether one whose record goes
// with its end is still there depends on who else looks; its exit must not.
func (h *Host) awaited(ctx context.Context, sel Selection) ([]registry.Record, error) {
	recs, _, err := h.choose(ctx, sel)
	if !errors.Is(err, ErrNotFound) {
		return recs, err
	}
	recs = nil
	for _, name := range sel.Names {
		one, _, err := h.choose(ctx, Selection{Names: []string{name}})
		if errors.Is(err, ErrNotFound) {
			one, err = h.departed(ctx, name)
		}
		if err != nil {
			return nil, err
		}
		if registry.IndexOf(recs, one[0].ID) < 0 {
			recs = append(recs, one[0])
		}
	}
	return recs, nil
}

// departed makes the record of an ephemeral worker that has gone with its end, as
// far as the history knows it: not that of one that somebody has removed since, or
// whose exit is not known. Of several of that name it is the last one.
func (h *Host) departed(ctx context.Context, name string) ([]registry.Record, error) {
	gone := &NotFoundError{Name: name}
	reg, err := h.store.Reading(ctx)
	if err != nil {
		return nil, err
	}
	if reg == nil {
		return nil, gone
	}
	one := 1
	events, err := reg.Events(ctx, registry.EventQuery{Worker: name, Last: &one})
	if err != nil {
		return nil, err
	}
	if len(events) == 0 || history.Kind(events[0].Kind) == history.Cleaned {
		return nil, gone
	}
	end, err := reg.End(ctx, events[0].ID)
	switch {
	case errors.Is(err, registry.ErrNotFound):
		return nil, gone
	case err != nil:
		return nil, err
	case end.Exit == nil:
		return nil, gone
	}
	rec := registry.Record{State: registry.Stopped, Exit: end.Exit}
	rec.ID, rec.Name, rec.Retain = end.ID, end.Worker, registry.RetainNone
	return []registry.Record{rec}, nil
}

// remember fills in the exit of a worker from the history: whoever recorded it may
// have removed all else since.
func (h *Host) remember(ctx context.Context, w *Worker) {
	if w.Status == StatusStopped && w.Exit != nil {
		return
	}
	reg, err := h.store.Reading(ctx)
	if err != nil || reg == nil {
		return
	}
	if e, err := reg.End(ctx, w.ID); err == nil && e.Exit != nil {
		w.Status, w.PID, w.Reason, w.Exit, w.Ended, w.Survivors = StatusStopped, 0, "", e.Exit, e.Exit.Time, nil
	}
}
