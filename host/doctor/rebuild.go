package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

const (
	subjectRebuild   = "rebuild"
	reasonNotStarted = "found by a rebuild of the registry; its backend does not know it"
)

// rebuild makes a damaged or missing registry again, or completes a good one.
func (d *examiner) rebuild(ctx context.Context) error {
	reg, err := d.opts.Store.ToChange(ctx)
	if err == nil && reg != nil {
		err = reg.Check(ctx)
	}
	switch {
	case err == nil && reg != nil:
		return d.complete(ctx, reg)
	case err == nil:
		d.find(SeverityOK, subjectRebuild, "", "there is nothing to rebuild")
		return nil
	case !errors.Is(err, registry.ErrDamaged) && !errors.Is(err, registry.ErrMissing):
		return err
	}
	warn.If(d.opts.Logger, d.opts.Store.Close(), "the damaged registry can't be closed")
	recs := d.found(ctx, nil, nil)
	aside, err := registry.SetAside(string(d.opts.Dir), time.Now())
	if err != nil {
		return err
	}
	salvaged := &registry.Salvaged{}
	if aside != "" {
		d.find(SeverityOK, subjectRebuild, "", "the damaged database is kept as %s", aside)
		salvaged = registry.Salvage(ctx, aside)
		defer salvaged.Close()
	}
	saved := 0
	spawned := make(map[string]bool, len(recs))
	for _, r := range recs {
		spawned[r.ID] = false
	}
	salvaged.Seen = func(e registry.Event) {
		saved++
		if _, ours := spawned[e.ID]; ours && e.Kind == history.Spawned {
			spawned[e.ID] = true
		}
	}
	salvaged.Then = func() []registry.Event { return eventsOf(spawned, recs) }
	if err := registry.Build(ctx, string(d.opts.Dir), recs, salvaged); err != nil {
		return fmt.Errorf("rebuild the registry: %w", err)
	}
	if err := d.settle(ctx, recs); err != nil {
		return err
	}
	d.find(SeverityOK, subjectRebuild, "", "the registry was rebuilt with %d worker(s) and %d event(s) of its history", len(recs), saved)
	return nil
}

// complete adds the workers that are known only from their run directories.
func (d *examiner) complete(ctx context.Context, reg *registry.Registry) error {
	known, _, err := reg.Read(ctx, registry.Query{})
	if err != nil {
		return err
	}
	gone, err := reg.Leftovers(ctx)
	if err != nil {
		return err
	}
	recs := d.found(ctx, known, gone)
	added := 0
	for i := range recs {
		err := reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
			if err := tx.Insert(ctx, &recs[i]); err != nil {
				return err
			}
			_, err := tx.Append(ctx, eventsOf(nil, recs[i:i+1])...)
			return err
		})
		switch {
		case errors.Is(err, registry.ErrExists):
			d.taken(recs[i])
		case err != nil:
			return err
		default:
			added++
		}
	}
	if err := d.settle(ctx, recs); err != nil {
		return err
	}
	d.find(SeverityOK, subjectRebuild, "", "the database is good; %d worker(s) were added to it", added)
	return nil
}

func (d *examiner) taken(rec registry.Record) {
	d.find(SeverityWarning, subjectRebuild, "clean the other worker and rebuild again, or remove the directory",
		"%s is of an older worker '%s', whose name is taken", d.opts.Dir.RunDir(rec.ID), rec.Name)
}

// eventsOf returns the events that follow from the records: that their workers were spawned,
// unless the history has that of their id, and how they ended.
func eventsOf(spawned map[string]bool, recs []registry.Record) []registry.Event {
	var add []registry.Event
	for i := range recs {
		rec := &recs[i]
		s := swarm.Status{Started: rec.Started, Exit: rec.Exit, Completion: rec.Completion}
		if !spawned[rec.ID] && rec.State != registry.Starting {
			add = append(add, history.SpawnedEvent(rec, s))
		}
		if rec.State == registry.Stopped || rec.Completion != nil {
			add = append(add, history.FinalEvent(rec, s, time.Now()))
		}
	}
	slices.SortStableFunc(add, func(a, b registry.Event) int { return a.Time.Compare(b.Time) })
	return add
}

// found returns records of the workers that have a run directory, in the order of their
// creation, without the known ones and those that are continued purpose.
func (d *examiner) found(ctx context.Context, known []registry.Record, gone []string) []registry.Record {
	ids, err := d.opts.Dir.RunDirs()
	if err != nil {
		d.find(SeverityError, subjectRebuild, "make it readable", "%v", err)
	}
	var recs []registry.Record
	for _, r := range known {
		gone = append(gone, r.Previous...)
	}
	for _, id := range ids {
		if registry.IndexOf(known, id) >= 0 || slices.Contains(gone, id) || d.opts.Dir.Locked(id) {
			continue
		}
		f, err := d.opts.Dir.ReadWorkerFile(id)
		if err != nil {
			d.find(SeverityWarning, subjectRebuild, "", "%s is left out: %v", d.opts.Dir.RunDir(id), err)
			continue
		}
		recs = append(recs, registry.Record{Spec: f.Spec, Workspace: f.Workspace, State: registry.Starting, Step: registry.StepBackend})
	}
	slices.SortFunc(recs, func(a, b registry.Record) int { return a.Created.Compare(b.Created) })
	recs = withoutPrevious(recs)
	backend.Each(d.opts.Plugins.Groups(recs, func(registry.Record) bool { return true }), func(g *backend.Group) {
		for i := range g.Recs {
			d.identify(ctx, g, &recs[g.At[i]])
		}
	})
	return d.newest(d.remembered(recs))
}

func withoutPrevious(recs []registry.Record) []registry.Record {
	return slices.DeleteFunc(slices.Clone(recs), func(r registry.Record) bool {
		return slices.ContainsFunc(recs, func(o registry.Record) bool { return slices.Contains(o.Previous, r.ID) })
	})
}

// remembered leaves out the ephemeral workers that have ended or completed: their records
// were deleted then.
func (d *examiner) remembered(recs []registry.Record) []registry.Record {
	return slices.DeleteFunc(recs, func(r registry.Record) bool {
		gone := r.IsEphemeral() && (r.State == registry.Stopped || r.Completion != nil)
		if gone {
			d.gone = append(d.gone, r.ID)
		}
		return gone
	})
}

// settle marks the run directories of the workers that are left out for removal, and enters
// the teams and agents that are known only from their workers.
func (d *examiner) settle(ctx context.Context, recs []registry.Record) error {
	return d.opts.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		for _, id := range d.gone {
			if err := tx.Leave(ctx, id); err != nil {
				return err
			}
		}
		n, err := team.Recover(ctx, tx, recs, time.Now())
		if n > 0 {
			d.find(SeverityOK, subjectRebuild, "", "%d agent(s) were found again by their workers alone, without their tokens", n)
		}
		return err
	})
}

func (d *examiner) newest(recs []registry.Record) []registry.Record {
	var out []registry.Record
	for i, r := range recs {
		if slices.ContainsFunc(recs[i+1:], func(o registry.Record) bool { return o.Name == r.Name }) {
			d.taken(r)
			continue
		}
		out = append(out, r)
	}
	return out
}

// identify fills in what the backend knows of a worker. If the backend can't be asked, the
// record stays that of an interrupted spawn, which a later call settles.
func (d *examiner) identify(ctx context.Context, g *backend.Group, rec *registry.Record) {
	ctx, cancel := d.opts.Plugins.Within(ctx, g.Name, backend.StatusLimit)
	defer cancel()
	err := d.opts.Plugins.AskGroup(ctx, g, func(p *backend.Peer) (err error) {
		if rec.Handle, err = d.opts.Plugins.Find(ctx, p, rec); err != nil {
			return err
		}
		rec.State, rec.Step = registry.Running, ""
		results, err := p.Backend.StatusBatch(ctx, []swarm.Handle{rec.Handle})
		if err == nil && len(results) == 1 && results[0].Err == nil {
			history.RecordFound(rec, results[0].Status)
		}
		return err
	})
	switch {
	case errors.Is(err, swarm.ErrNotFound):
		rec.State, rec.Step, rec.Reason = registry.Stopped, "", reasonNotStarted
	case err != nil:
		d.opts.Logger.Warn("the backend of a worker can't be asked", "worker", rec.Name, "backend", rec.Backend, "error", err)
	}
}
