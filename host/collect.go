package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Collected is what a collection found and did.
type Collected struct {
	// Ended are the workers whose end was recorded, Removed those whose record
	// went, Killed those whose owner is gone.
	Ended, Removed, Killed []Worker
	// RunDirs is how many run directories of no worker were removed.
	RunDirs  int
	Warnings []Warning
}

// Collect does once what [Host.Watch] does as it goes, over all backends. What
// one of them keeps it from doing is in the warnings.
func (h *Host) Collect(ctx context.Context) (Collected, error) {
	if _, err := os.Lstat(filepath.Join(h.opts.Dir, registry.File)); err != nil {
		reg, err := h.reading(ctx)
		if err != nil || reg == nil {
			return Collected{}, err
		}
	}
	reg, err := h.writing(ctx)
	if err != nil {
		return Collected{}, err
	}
	return h.collect(ctx, reg)
}

func (h *Host) collect(ctx context.Context, reg *registry.Registry) (Collected, error) {
	var c Collected
	if err := c.settle(ctx, h, reg); err != nil {
		return c, err
	}
	recs, warnings, err := reg.Read(ctx, registry.Query{State: registry.Running})
	if err != nil {
		return c, err
	}
	for _, text := range warnings {
		c.Warnings = append(c.Warnings, Warning{Text: text})
	}
	if err := c.ends(ctx, h, reg, recs); err != nil {
		return c, err
	}
	c.owners(ctx, h, recs)
	swept, err := h.SweepTeam(ctx, "")
	for _, text := range swept {
		c.Warnings = append(c.Warnings, Warning{Text: text})
	}
	c.warnIf(err, "cannot look after agents")
	gone, _, err := h.expire(ctx, reg, time.Now())
	for _, r := range gone {
		c.Removed = append(c.Removed, worker(r))
	}
	c.warnIf(err, "cannot remove workers whose time is over")
	n, err := h.dropRunDirs(ctx, reg)
	c.RunDirs += n
	c.warnIf(err, "cannot remove run directories")
	n, err = h.dropStrays(ctx, reg)
	c.RunDirs += n
	c.warnIf(err, "cannot remove run directories")
	return c, ctx.Err()
}

func (c *Collected) warnIf(err error, what string) {
	if err != nil {
		c.Warnings = append(c.Warnings, Warning{Text: fmt.Sprintf("%s: %v", what, err)})
	}
}

// settle settles the spawns that were interrupted.
func (c *Collected) settle(ctx context.Context, h *Host, reg *registry.Registry) error {
	recs, _, err := reg.Read(ctx, registry.Query{State: registry.Starting})
	if err != nil {
		return err
	}
	for _, r := range recs {
		if h.locked(r.ID) {
			continue
		}
		now, err := h.settled(ctx, r)
		switch {
		case errors.Is(err, ErrNotFound):
			c.Removed = append(c.Removed, worker(r))
		case err != nil:
			c.warnIf(err, fmt.Sprintf("cannot settle '%s'", r.Name))
		case now.State == registry.Stopped:
			c.Ended = append(c.Ended, worker(now))
		}
	}
	return nil
}

// ends records the ends of those of recs that have ended. It is an error if that
// can't be recorded.
func (c *Collected) ends(ctx context.Context, h *Host, reg *registry.Registry, recs []registry.Record) error {
	type found struct {
		told     []told
		warnings []Warning
		err      error
	}
	gs := h.groups(recs, isRunning)
	all := make([]found, len(gs))
	index := make(map[*group]int, len(gs))
	for i, g := range gs {
		index[g] = i
	}
	each(gs, func(g *group) {
		f := &all[index[g]]
		var fresh []news
		for i, r := range h.statuses(ctx, g) {
			switch {
			case r.Err != nil:
				f.warnings = append(f.warnings, Warning{Text: fmt.Sprintf("cannot tell how '%s' is: %s", g.recs[i].Name, wording(r.Err))})
			case isNews(&g.recs[i], r.Status):
				fresh = append(fresh, h.newsOf(ctx, g.recs[i], r.Status))
			}
		}
		if len(fresh) == 0 {
			return
		}
		f.told, f.err = h.publish(ctx, reg, fresh)
	})
	var err error
	for _, f := range all {
		err = errors.Join(err, f.err)
		c.Warnings = append(c.Warnings, f.warnings...)
		for _, t := range f.told {
			if t.ended {
				c.Ended = append(c.Ended, worker(t.rec))
			}
			if t.removed {
				c.Removed = append(c.Removed, worker(t.rec))
			}
		}
	}
	return err
}

// owners kills the workers whose owner has ended and whose backend does not see to
// that, and returns them.
func (c *Collected) owners(ctx context.Context, h *Host, recs []registry.Record) []registry.Record {
	left := h.disowned(ctx, recs)
	for _, w := range left {
		outs, err := h.Kill(ctx, Selection{Names: []string{w.ID}}, KillRequest{Allowed: true})
		for _, out := range outs {
			if err = out.Err; err == nil && !out.Result.AlreadyEnded {
				c.Killed = append(c.Killed, out.Worker)
			}
		}
		if !errors.Is(err, ErrNotFound) {
			c.warnIf(err, fmt.Sprintf("the owner of '%s' has ended", w.Name))
		}
	}
	return left
}

// disowned returns those of recs whose owner has ended and whose backend does not
// see to that.
func (h *Host) disowned(ctx context.Context, recs []registry.Record) []registry.Record {
	var left []registry.Record
	orphaned := func(r registry.Record) bool {
		return r.State == registry.Running && r.Owner != nil && !ownerLives(*r.Owner)
	}
	for _, g := range h.groups(recs, orphaned) {
		err := g.err
		if err == nil {
			err = h.askBackend(ctx, g.entry, true, func(p *peer) error {
				if !p.Has(swarm.CapOwner) {
					left = append(left, g.recs...)
				}
				return nil
			})
		}
		h.warnIf(err, "the backend of workers whose owner has ended can't be asked", "backend", g.name)
	}
	return left
}
