package host

import (
	"context"
	"errors"
	"fmt"
	"github.com/swarmhost/swarm/host/history"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
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
		reg, err := h.store.Reading(ctx)
		if err != nil || reg == nil {
			return Collected{}, err
		}
	}
	reg, err := h.store.Writing(ctx)
	if err != nil {
		return Collected{}, err
	}
	var c Collected
	recs, err := c.ended(ctx, h, reg)
	if err != nil {
		return c, err
	}
	c.owners(ctx, h, recs)
	swept, err := h.SweepTeam(ctx, "")
	for _, text := range swept {
		c.Warnings = append(c.Warnings, Warning{Text: text})
	}
	c.warnIf(err, "cannot look after agents")
	c.remove(ctx, h, reg)
	return c, ctx.Err()
}

// ended records what has ended. It returns the records of those that ran.
func (c *Collected) ended(ctx context.Context, h *Host, reg *registry.Registry) ([]registry.Record, error) {
	if err := c.settle(ctx, h, reg); err != nil {
		return nil, err
	}
	recs, warnings, err := reg.Read(ctx, registry.Query{State: registry.Running})
	if err != nil {
		return nil, err
	}
	for _, text := range warnings {
		c.Warnings = append(c.Warnings, Warning{Text: text})
	}
	return recs, c.ends(ctx, h, reg, recs)
}

// remove removes the records and run directories whose time is over.
func (c *Collected) remove(ctx context.Context, h *Host, reg *registry.Registry) {
	gone, _, err := h.history.Expire(ctx, reg, time.Now())
	for _, r := range gone {
		c.Removed = append(c.Removed, worker(r))
	}
	c.warnIf(err, "cannot remove expired workers")
	n, err := h.history.DropRunDirs(ctx, reg)
	c.RunDirs += n
	c.warnIf(err, "cannot remove run directories")
	n, err = h.history.DropStrays(ctx, reg)
	c.RunDirs += n
	c.warnIf(err, "cannot remove run directories")
	// All that it tells is recorded by now, or will be soon by whoever is at it.
	c.warnIf(h.history.Drain(ctx, reg, func(string) bool { return false }), "cannot read what shims have told")
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
		if h.dir.Locked(r.ID) {
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
		told     []history.Written
		warnings []Warning
		err      error
	}
	gs := h.plugins.Groups(recs, registry.Record.IsRunning)
	all := make([]found, len(gs))
	index := make(map[*backend.Group]int, len(gs))
	for i, g := range gs {
		index[g] = i
	}
	backend.Each(gs, func(g *backend.Group) {
		f := &all[index[g]]
		var fresh []history.Report
		for i, r := range h.plugins.Statuses(ctx, g) {
			switch {
			case r.Err != nil:
				f.warnings = append(f.warnings, Warning{Text: fmt.Sprintf("cannot get the status of '%s': %s", g.Recs[i].Name, wording(r.Err))})
			case history.IsNew(&g.Recs[i], r.Status):
				fresh = append(fresh, h.history.Report(ctx, g.Recs[i], r.Status))
			}
		}
		if len(fresh) == 0 {
			return
		}
		f.told, f.err = h.history.Write(ctx, reg, fresh)
	})
	var err error
	for _, f := range all {
		err = errors.Join(err, f.err)
		c.Warnings = append(c.Warnings, f.warnings...)
		for _, t := range f.told {
			if t.Ended {
				c.Ended = append(c.Ended, worker(t.Record))
			}
			if t.Removed {
				c.Removed = append(c.Removed, worker(t.Record))
			}
		}
	}
	return err
}

// atOnce is how many workers whose owner has ended are killed at the same time.
const atOnce = 16

// owners kills the workers whose owner has ended and whose backend does not see to
// that, all at the same time.
func (c *Collected) owners(ctx context.Context, h *Host, recs []registry.Record) {
	left, err := h.disowned(ctx, recs)
	h.warnIf(err, "the backend of workers whose owner has ended can't be asked")
	var mu sync.Mutex
	var killing sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, r := range left {
		killing.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			killed, err := h.killDisowned(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			c.Killed = append(c.Killed, killed...)
			c.warnIf(err, ownerEnded(r))
		})
	}
	killing.Wait()
	slices.SortFunc(c.Killed, func(a, b Worker) int { return strings.Compare(a.Name, b.Name) })
}

// ownerEnded says which worker could not be killed, and why it should be.
func ownerEnded(r registry.Record) string { return fmt.Sprintf("the owner of '%s' has ended", r.Name) }

// killDisowned kills a worker whose owner has ended. One that is gone is no error.
func (h *Host) killDisowned(ctx context.Context, r registry.Record) (killed []Worker, err error) {
	outs, err := h.Kill(ctx, Selection{Names: []string{r.ID}}, KillRequest{Allowed: true})
	for _, out := range outs {
		if err = out.Err; err == nil && !out.Result.AlreadyEnded {
			killed = append(killed, out.Worker)
		}
	}
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return killed, err
}

// disowned returns those of recs whose owner has ended and whose backend does not
// see to that. An error is about the backends that can't be asked.
func (h *Host) disowned(ctx context.Context, recs []registry.Record) (left []registry.Record, err error) {
	orphaned := func(r registry.Record) bool {
		return r.State == registry.Running && r.Owner != nil && !caller.OwnerLives(*r.Owner)
	}
	for _, g := range h.plugins.Groups(recs, orphaned) {
		gerr := g.Err
		if gerr == nil {
			gerr = h.plugins.AskBackend(ctx, g.Entry, true, func(p *backend.Peer) error {
				if !p.Has(swarm.CapOwner) {
					left = append(left, g.Recs...)
				}
				return nil
			})
		}
		if gerr != nil {
			err = errors.Join(err, fmt.Errorf("backend '%s': %w", g.Name, gerr))
		}
	}
	return left, err
}
