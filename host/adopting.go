package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// adoptedRecord returns the record of a worker that somebody else has spawned. What
// only that host knew, such as how long to keep its record, is as by default.
func (h *Host) adoptedRecord(e catalog.Entry, l swarm.Listed) registry.Record {
	s := l.Spec
	rec := registry.Record{
		State: registry.Running, Handle: l.Handle,
		Spec: registry.Spec{
			ID: s.ID, Name: s.Name, Backend: e.Name, Plugin: backend.RecordedPlugin(e), Command: s.Command, Dir: s.Dir,
			Tags: unique(s.Tags), Options: s.Options, Kill: s.Kill, OutputLimit: s.OutputLimit, Retain: defaultRetain,
			Stdin: s.Stdin, Restart: s.Restart, Created: l.Created,
		},
	}
	if rec.Kill == (swarm.KillOptions{}) {
		rec.Kill = h.killPolicy(nil)
	}
	if rec.Created.IsZero() {
		rec.Created = time.Now()
	}
	recordFound(&rec, l.Status)
	return rec
}

// adopt enters records, all in one change.
func (h *Host) adopt(ctx context.Context, reg *registry.Registry, picked []swarm.Listed, recs []registry.Record) ([]AdoptOutcome, error) {
	if err := h.vacate(ctx, reg, recs); err != nil {
		return nil, err
	}
	outcomes := make([]AdoptOutcome, len(recs))
	err := reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		there, _, err := tx.Read(ctx, registry.Query{})
		if err != nil {
			return err
		}
		for i := range recs {
			rec, out := &recs[i], &outcomes[i]
			*out = AdoptOutcome{Worker: worker(*rec)}
			if known := knows(there, rec.ID); known >= 0 {
				out.Worker, out.Known = worker(there[known]), true
			} else {
				err = enterAdopted(ctx, tx, rec, picked[i].Status)
			}
			switch {
			case errors.Is(err, registry.ErrExists):
				out.Err, err = fmt.Errorf("cannot adopt '%s' (%s): %w", rec.Name, rec.ID, &existsError{name: rec.Name}), nil
			case err != nil:
				return err
			}
			if !out.Known || out.Worker.ID == rec.ID && out.Worker.Status != StatusStopped {
				apply(&out.Worker, swarm.StatusResult{Status: picked[i].Status})
			}
		}
		return nil
	})
	return outcomes, err
}

// vacate frees the names that workers have which are kept no longer than now.
func (h *Host) vacate(ctx context.Context, reg *registry.Registry, recs []registry.Record) error {
	for _, rec := range recs {
		there, _, err := reg.Read(ctx, registry.Query{Names: []string{rec.Name}})
		if err != nil {
			return err
		}
		if i := find(there, rec.Name); i >= 0 && there[i].ID != rec.ID {
			h.vacated(ctx, reg, there[i])
		}
	}
	return nil
}

// knows returns the place of the record that is of a worker with that id, or was
// before it was respawned; -1 if there is none.
func knows(recs []registry.Record, id string) int {
	return slices.IndexFunc(recs, func(r registry.Record) bool {
		return r.ID == id || slices.Contains(r.Previous, id) || r.Replaces != nil && r.Replaces.ID == id
	})
}

// enterAdopted enters one record, with what the history tells of it.
func enterAdopted(ctx context.Context, tx *registry.Tx, rec *registry.Record, s swarm.Status) error {
	if err := tx.Insert(ctx, rec); err != nil {
		return err
	}
	// It may have been here before, and its run directory about to be removed.
	if err := tx.Forget(ctx, rec.ID); err != nil {
		return err
	}
	now := time.Now()
	events := []registry.Event{newEvent(rec, EventAdopted, fmt.Sprintf("from backend '%s'", rec.Backend), now)}
	if over(s) || rec.Completion != nil {
		events = append(events, finalEvent(rec, s, now))
	}
	_, err := tx.Append(ctx, events...)
	return err
}

// keepWorkerFile writes the worker.json of a worker that was entered, for the case
// that the registry is lost.
func (h *Host) keepWorkerFile(rec *registry.Record) error {
	if err := h.dir.MakeRunDir(rec.ID); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return h.dir.WriteWorkerFile(rec)
}
