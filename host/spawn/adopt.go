package spawn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

// AdoptRequest says which workers of an engine to adopt.
type AdoptRequest struct {
	// Backend is the name of the plugin that the engine is behind.
	Backend string
	// Names are names or ids, exact. Of several workers of a name the one that
	// runs is meant, else the last one.
	Names []string
	// All selects every worker that has not ended; Names is empty then.
	All bool
}

// AdoptOutcome says what came of one worker.
type AdoptOutcome struct {
	// Worker is the worker after the call.
	Worker worker.Worker
	// Known says that it was in the registry before.
	Known bool
	// Err is nil if it is in the registry now. Its text names the worker.
	Err error
}

// adoptLimit is how long a backend may take to say which workers there are.
const adoptLimit = time.Minute

// MaxListWarnings is how many workers that can't be adopted are named.
const MaxListWarnings = 20

// Adopt enters workers into the registry that a backend finds in its engine and that
// were spawned by another host. From then on they are as if they had been spawned
// here; their former hosts have them as well. A worker that is known already
// is left alone, and one whose name is taken here is a [worker.ErrExists] in its outcome.
//
// A name that the engine does not know is a [store.ErrNotFound], and nothing was adopted
// then. Workers that the backend doesn't know enough of are left out, with a warning.
// Outcomes are in the order of Names, else in that of the workers' creation.
//
// If a part of the engine can't be asked, such as one host of several, the listed workers are
// adopted. The reasons are warnings if Names were found, and with All they are the error, next to
// the outcomes.
func (s *Spawner) Adopt(ctx context.Context, req AdoptRequest) ([]AdoptOutcome, []worker.Warning, error) {
	if len(req.Names) == 0 && !req.All {
		return nil, nil, worker.ErrNoSelection
	}
	e, err := s.Catalog.Find(req.Backend)
	if err != nil {
		return nil, nil, err
	}
	reg, err := s.Store.ToWrite(ctx)
	if err != nil {
		return nil, nil, err
	}
	found, warnings, incomplete := s.list(ctx, reg, e)
	if incomplete != nil &&
		(len(found) == 0 || ctx.Err() != nil || !errors.Is(incomplete, swarm.ErrUnavailable)) {
		return nil, warnings, incomplete
	}
	picked, err := req.pick(found)
	if err != nil && incomplete != nil {
		err = fmt.Errorf("%w, as far as it could be asked: %w", err, incomplete)
	}
	if err != nil {
		return nil, warnings, err
	}
	if incomplete != nil && !req.All {
		for line := range strings.Lines(incomplete.Error()) {
			warnings = append(warnings, worker.Warning{Text: strings.TrimSpace(line)})
		}
		incomplete = nil
	}
	recs := make([]registry.Record, len(picked))
	for i, l := range picked {
		recs[i] = s.adoptedRecord(e, l)
	}
	// Its run directory may be about to be removed, if it has been here before.
	for _, rec := range recs {
		unlock, err := s.Dir.Lock(ctx, rec.ID)
		if err != nil {
			return nil, warnings, err
		}
		defer unlock()
	}
	outcomes, err := s.adopt(ctx, reg, picked, recs)
	if err != nil {
		return nil, warnings, err
	}
	for i, out := range outcomes {
		if out.Err == nil && !out.Known {
			warn.If(s.Logger, s.keepWorkerFile(&recs[i]), "the worker file can't be written", "worker", recs[i].Name)
		}
	}
	return outcomes, warnings, incomplete
}

func (s *Spawner) list(ctx context.Context, reg *registry.Registry, e catalog.Entry) (found []swarm.Listed, warnings []worker.Warning, err error) {
	limited, cancel := s.Plugins.Within(ctx, e.Name, adoptLimit)
	defer cancel()
	var refused int
	err = s.Plugins.AskBackend(limited, e, true, func(p *backend.Peer) error {
		if !p.Has(swarm.CapList) {
			return worker.Unsupported(e.Name, swarm.CapList, "")
		}
		s.Settler.Recover(limited, reg, p, e.Name)
		found, warnings, refused = nil, nil, 0
		return p.Backend.List(limited, func(l swarm.Listed) error {
			if err := limited.Err(); err != nil {
				return err
			}
			if err := checkListed(l); err == nil {
				found = append(found, l)
			} else if refused++; refused <= MaxListWarnings {
				warnings = append(warnings, worker.Warning{Text: fmt.Sprintf("backend '%s' lists a worker that can't be adopted: %v", e.Name, err)})
			}
			return nil
		})
	})
	if refused > MaxListWarnings {
		warnings = append(warnings, worker.Warning{Text: fmt.Sprintf("backend '%s' lists %d more workers that can't be adopted", e.Name, refused-MaxListWarnings)})
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("%w: backend '%s' did not answer within %s", swarm.ErrUnavailable, e.Name, adoptLimit)
	}
	slices.SortStableFunc(found, func(a, b swarm.Listed) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Spec.ID, b.Spec.ID))
	})
	return found, warnings, err
}

// checkListed refuses a worker that could not have been spawned: any program may have
// written it into the engine.
func checkListed(l swarm.Listed) error {
	spec := l.Spec
	if !statedir.IsID(spec.ID) {
		return worker.Invalid("invalid id %q", spec.ID)
	}
	return Request{
		Name: spec.Name, Command: spec.Command, Dir: cmp.Or(spec.Dir, "/"), Tags: spec.Tags, Options: spec.Options, Kill: &spec.Kill, Restart: spec.Restart,
		Limits: spec.Limits, Sandbox: spec.Sandbox,
	}.check()
}

func (req AdoptRequest) pick(found []swarm.Listed) ([]swarm.Listed, error) {
	if req.All {
		return slices.DeleteFunc(slices.Clone(found), func(l swarm.Listed) bool { return history.Over(l.Status) }), nil
	}
	var picked []swarm.Listed
	for _, name := range req.Names {
		i := findListed(found, name)
		if i < 0 {
			return nil, worker.Errorf(store.ErrNotFound, "backend '%s' has no worker '%s'", req.Backend, name)
		}
		if !slices.ContainsFunc(picked, func(l swarm.Listed) bool { return l.Spec.ID == found[i].Spec.ID }) {
			picked = append(picked, found[i])
		}
	}
	return picked, nil
}

// findListed returns the place of the worker of that name or id, or -1.
func findListed(found []swarm.Listed, name string) int {
	best := -1
	for i, l := range found {
		if l.Spec.Name == name && (best < 0 || !history.Over(l.Status) || history.Over(found[best].Status)) {
			best = i
		}
	}
	if best < 0 {
		best = slices.IndexFunc(found, func(l swarm.Listed) bool { return l.Spec.ID == name })
	}
	return best
}

// adoptedRecord returns the record of a worker that another process has spawned. Facts
// that only that host knew, such as how long to keep its record, get their defaults.
func (s *Spawner) adoptedRecord(e catalog.Entry, l swarm.Listed) registry.Record {
	spec := l.Spec
	rec := registry.Record{
		State: registry.Running, Handle: l.Handle,
		Spec: registry.Spec{
			ID: spec.ID, Name: spec.Name, Backend: e.Name, Plugin: backend.RecordedPlugin(e), Command: spec.Command, Dir: spec.Dir,
			Tags: Unique(spec.Tags), Options: spec.Options, Kill: spec.Kill, OutputLimit: spec.OutputLimit, Retain: registry.RetainUntilClean,
			Stdin: spec.Stdin, Restart: spec.Restart, Limits: spec.Limits, Sandbox: spec.Sandbox.Clone(),
			Created: l.Created,
		},
	}
	if rec.Kill == (swarm.KillOptions{}) {
		rec.Kill = s.killPolicy(nil)
	}
	if rec.Created.IsZero() {
		rec.Created = time.Now()
	}
	history.RecordFound(&rec, l.Status)
	return rec
}

func (s *Spawner) adopt(ctx context.Context, reg *registry.Registry, picked []swarm.Listed, recs []registry.Record) ([]AdoptOutcome, error) {
	if err := s.vacate(ctx, reg, recs); err != nil {
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
			*out = AdoptOutcome{Worker: worker.Of(*rec)}
			if known := knows(there, rec.ID); known >= 0 {
				out.Worker, out.Known = worker.Of(there[known]), true
			} else {
				err = enterAdopted(ctx, tx, rec, picked[i].Status)
			}
			switch {
			case errors.Is(err, registry.ErrExists):
				out.Err, err = fmt.Errorf("cannot adopt '%s' (%s): %w", rec.Name, rec.ID, worker.Exists(rec.Name)), nil
			case err != nil:
				return err
			}
			if !out.Known || out.Worker.ID == rec.ID && out.Worker.Status != worker.StatusStopped {
				out.Worker.Apply(swarm.StatusResult{Status: picked[i].Status})
			}
		}
		return nil
	})
	return outcomes, err
}

// vacate frees the names that workers have which are kept no longer than now.
func (s *Spawner) vacate(ctx context.Context, reg *registry.Registry, recs []registry.Record) error {
	for _, rec := range recs {
		there, _, err := reg.Read(ctx, registry.Query{Names: []string{rec.Name}})
		if err != nil {
			return err
		}
		if i := store.Find(there, rec.Name); i >= 0 && there[i].ID != rec.ID {
			s.History.Vacated(ctx, reg, there[i])
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

func enterAdopted(ctx context.Context, tx *registry.Tx, rec *registry.Record, s swarm.Status) error {
	if err := tx.Insert(ctx, rec); err != nil {
		return err
	}
	// It may have been here before, and its run directory about to be removed.
	if err := tx.Forget(ctx, rec.ID); err != nil {
		return err
	}
	now := time.Now()
	events := []registry.Event{history.NewEvent(rec, history.Adopted, fmt.Sprintf("from backend '%s'", rec.Backend), now)}
	if history.Over(s) || rec.Completion != nil {
		events = append(events, history.FinalEvent(rec, s, now))
	}
	_, err := tx.Append(ctx, events...)
	return err
}

// keepWorkerFile writes the worker.json of a worker that was entered, for the case
// that the registry is lost.
func (s *Spawner) keepWorkerFile(rec *registry.Record) error {
	if err := s.Dir.MakeRunDir(rec.ID); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.Dir.WriteWorkerFile(rec)
}
