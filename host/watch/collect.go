package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

// Collected is what a collection found and did.
type Collected struct {
	// Ended are the workers whose end was recorded, Removed those whose record
	// went, Killed those that were killed because their owner is gone.
	Ended, Removed, Killed []registry.Record
	// Workspaces are the workers whose workspace was gone after an interrupted removal, which is
	// recorded now.
	Workspaces []registry.Record
	// RunDirs is how many run directories of no worker were removed.
	RunDirs int
	// Events is how many events were removed because of their age.
	Events   int
	Warnings []string
}

// Collect does once, over all backends, the work that [Watcher.Watch] does continuously.
// Failures of a backend are in the warnings.
func (h *Watcher) Collect(ctx context.Context) (Collected, error) {
	if _, err := os.Lstat(filepath.Join(string(h.Dir), registry.File)); err != nil {
		reg, err := h.Store.ToRead(ctx)
		if err != nil || reg == nil {
			return Collected{}, err
		}
	}
	reg, err := h.Store.ToWrite(ctx)
	if err != nil {
		return Collected{}, err
	}
	var c Collected
	c.events(ctx, h, reg)
	recs, err := c.ended(ctx, h, reg)
	if err != nil {
		return c, err
	}
	c.owners(ctx, h, recs)
	swept, err := h.Sweeper.Sweep(ctx, "")
	c.Warnings = append(c.Warnings, swept...)
	c.warnIf(err, "cannot supervise agents")
	c.remove(ctx, h, reg)
	return c, ctx.Err()
}

// events removes the events whose time has run out. An end that is recorded only now may be as old
// as these: so it comes first, and readers see that end in any case.
func (c *Collected) events(ctx context.Context, h *Watcher, reg *registry.Registry) {
	if h.KeepEvents <= 0 {
		return
	}
	n, err := h.History.Trim(ctx, reg, time.Now().Add(-h.KeepEvents))
	c.Events += n
	c.warnIf(err, "cannot remove old events")
}

func (c *Collected) ended(ctx context.Context, h *Watcher, reg *registry.Registry) ([]registry.Record, error) {
	if err := c.settle(ctx, h, reg); err != nil {
		return nil, err
	}
	recs, warnings, err := reg.Read(ctx, registry.Query{State: registry.Running})
	if err != nil {
		return nil, err
	}
	c.Warnings = append(c.Warnings, warnings...)
	return recs, c.ends(ctx, h, reg, recs)
}

func (c *Collected) remove(ctx context.Context, h *Watcher, reg *registry.Registry) {
	unfinished, err := h.Killer.FinishRemovals(ctx)
	c.Workspaces = append(c.Workspaces, unfinished...)
	c.warnIf(err, "cannot finish the removal of a workspace")
	gone, _, err := h.History.Expire(ctx, reg, time.Now())
	c.Removed = append(c.Removed, gone...)
	c.warnIf(err, "cannot remove expired workers")
	n, err := h.History.DropRunDirs(ctx, reg)
	c.RunDirs += n
	c.warnIf(err, "cannot remove run directories")
	n, err = h.History.DropStrays(ctx, reg)
	c.RunDirs += n
	c.warnIf(err, "cannot remove run directories")
	c.warnIf(h.History.DropGroups(ctx, reg), "cannot remove control groups")
	c.warnIf(h.Dir.SweepLocks(), "cannot remove lock files")
	// Everything that the journal reports is recorded by now, or another process is about
	// to record it.
	c.warnIf(h.History.Drain(ctx, reg, func(string) bool { return false }), "cannot read the journal of the shims")
}

func (c *Collected) warnIf(err error, what string) {
	if err != nil {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %v", what, err))
	}
}

func (c *Collected) settle(ctx context.Context, h *Watcher, reg *registry.Registry) error {
	recs, _, err := reg.Read(ctx, registry.Query{State: registry.Starting})
	if err != nil {
		return err
	}
	for _, r := range recs {
		if h.Dir.Locked(r.ID) {
			continue
		}
		now, err := h.Settler.Settled(ctx, r)
		switch {
		case errors.Is(err, store.ErrNotFound):
			c.Removed = append(c.Removed, r)
		case err != nil:
			c.warnIf(err, fmt.Sprintf("cannot settle '%s'", r.Name))
		case now.State == registry.Stopped:
			c.Ended = append(c.Ended, now)
		}
	}
	return nil
}

// ends asks the backends for the workers of recs and records the ends. It returns an
// error if they can't be recorded.
func (c *Collected) ends(ctx context.Context, h *Watcher, reg *registry.Registry, recs []registry.Record) error {
	type found struct {
		written  []history.Written
		warnings []string
		err      error
	}
	gs := h.Plugins.Groups(recs, registry.Record.IsRunning)
	all := make([]found, len(gs))
	backend.Each(gs, func(g *backend.Group) {
		f := &all[slices.Index(gs, g)]
		var fresh []history.Report
		for i, r := range h.Plugins.Statuses(ctx, g) {
			switch {
			case r.Err != nil:
				f.warnings = append(f.warnings, fmt.Sprintf("cannot get the status of '%s': %s", g.Recs[i].Name, worker.Wording(r.Err)))
			case history.IsNew(&g.Recs[i], r.Status):
				fresh = append(fresh, h.History.Report(ctx, g.Recs[i], r.Status))
			}
		}
		if len(fresh) == 0 {
			return
		}
		f.written, f.err = h.History.Write(ctx, reg, fresh)
	})
	var err error
	for _, f := range all {
		err = errors.Join(err, f.err)
		c.Warnings = append(c.Warnings, f.warnings...)
		for _, t := range f.written {
			if t.Ended {
				c.Ended = append(c.Ended, t.Record)
			}
			if t.Removed {
				c.Removed = append(c.Removed, t.Record)
			}
		}
	}
	return err
}

const atOnce = 16

// owners kills the workers whose owner has ended, at the same time, if their backend does
// not do so itself.
func (c *Collected) owners(ctx context.Context, h *Watcher, recs []registry.Record) {
	left, err := h.disowned(ctx, recs)
	warn.If(h.Logger, err, "the backend of workers whose owner has ended can't be asked")
	var mu sync.Mutex
	var killing sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, r := range left {
		killing.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			killed, err := h.killNow(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			if killed {
				c.Killed = append(c.Killed, r)
			}
			c.warnIf(err, ownerEnded(r))
		})
	}
	killing.Wait()
	slices.SortFunc(c.Killed, func(a, b registry.Record) int { return strings.Compare(a.Name, b.Name) })
}

// killNow kills a worker whose owner has ended, and reports whether it had not ended before.
func (h *Watcher) killNow(ctx context.Context, r registry.Record) (killed bool, err error) {
	outs, err := h.Killer.Kill(ctx, worker.Selection{Names: []string{r.ID}}, kill.Request{Allowed: true})
	for _, out := range outs {
		if err = out.Err; err == nil && !out.Result.AlreadyEnded {
			killed = true
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return killed, err
}

// reportStates records the states of agents, answers what rules decide, and reports stops to the
// leaders of teams.
func (h *Watcher) reportStates(ctx context.Context, reg *registry.Registry, recs []registry.Record) error {
	states, err := h.Display.RecordStates(ctx, reg, recs)
	h.Ruler.Apply(ctx, recs, states)
	return errors.Join(err, h.Notifier.ReportStops(ctx, recs, states))
}

func ownerEnded(r registry.Record) string { return fmt.Sprintf("the owner of '%s' has ended", r.Name) }

// disowned returns the records of recs whose owner has ended and whose backend does not
// kill them itself. The error names the backends that can't be asked; left is valid all
// the same.
func (h *Watcher) disowned(ctx context.Context, recs []registry.Record) (left []registry.Record, err error) {
	orphaned := func(r registry.Record) bool {
		return r.State == registry.Running && r.Owner != nil && !caller.OwnerLives(*r.Owner)
	}
	for _, g := range h.Plugins.Groups(recs, orphaned) {
		gerr := h.Plugins.AskGroup(ctx, g, func(p *backend.Peer) error {
			if !p.Has(swarm.CapOwner) {
				left = append(left, g.Recs...)
			}
			return nil
		})
		if gerr != nil {
			err = errors.Join(err, fmt.Errorf("backend '%s': %w", g.Name, gerr))
		}
	}
	return left, err
}

// trimEvents removes old events concurrently with the loop, since there may be many.
func (w *watchRun) trimEvents(ctx context.Context) {
	w.trim = time.Time{}
	reg := w.reg
	w.aside(ctx, func() func() {
		var done Collected
		done.events(ctx, w.Watcher, reg)
		return func() {
			w.trim = time.Now().Add(trimEvery)
			w.warn(aboutEvents, done.Warnings...)
		}
	})
}
