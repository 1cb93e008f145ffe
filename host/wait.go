package host

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Wait calls each with every selected worker as it ends, those that have ended
// first, and returns when the last one did. A worker that is lost, or whose
// backend can't be asked, is reported as such and not waited for. An ephemeral one that
// is gone is reported as the history knows it. Wait writes nothing.
func (h *Host) Wait(ctx context.Context, sel worker.Selection, each func(worker.Worker)) error {
	if len(sel.Names) == 0 && !sel.All && sel.Tag == "" {
		return worker.ErrNoSelection
	}
	recs, err := h.roster.Awaited(ctx, sel)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan worker.Worker)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	report := func(w worker.Worker) {
		select {
		case ended <- w:
		case <-ctx.Done():
		}
	}
	wg.Go(func() {
		h.waitAll(ctx, recs, report)
		close(ended)
	})
	for w := range ended {
		each(w)
	}
	return ctx.Err()
}

func (h *Host) waitAll(ctx context.Context, recs []registry.Record, report func(worker.Worker)) {
	var wg sync.WaitGroup
	now := h.roster.Observe(ctx, recs)
	for i, w := range now {
		switch w.Status {
		case worker.StatusRunning, worker.StatusPending:
		case worker.StatusStarting:
			wg.Go(func() { h.waitStarting(ctx, recs[i], report) })
		case worker.StatusStopped, worker.StatusLost:
			h.roster.Remember(ctx, &w)
			report(w)
		case worker.StatusUnknown:
			// A timeout says nothing about the worker.
			if !display.NearlyOver(ctx) {
				h.roster.Remember(ctx, &w)
				report(w)
			}
		}
	}
	if display.NearlyOver(ctx) {
		<-ctx.Done()
		return
	}
	alive := func(r registry.Record) bool {
		return now[slices.IndexFunc(recs, func(o registry.Record) bool { return o.ID == r.ID })].Active()
	}
	for _, g := range h.plugins.Groups(recs, alive) {
		wg.Go(func() { h.waitGroup(ctx, g, report) })
	}
	wg.Wait()
}

// waitStarting waits for the end of a spawn, then for that of the worker.
func (h *Host) waitStarting(ctx context.Context, rec registry.Record, report func(worker.Worker)) {
	// The lock is free when the spawn ends, one way or the other.
	if _, err := h.dir.AwaitLock(ctx, rec.ID); err != nil {
		return
	}
	w := worker.Of(rec)
	rec, err := h.roster.Restored(ctx, rec)
	switch {
	case err != nil:
		w.Reason = err.Error()
		h.roster.Remember(ctx, &w)
		report(w)
	case rec.State == registry.Starting:
		// It was interrupted; settling it would be a change.
		w.Status, w.Reason = worker.StatusUnknown, history.ReasonInterrupted
		report(w)
	default:
		h.waitAll(ctx, []registry.Record{rec}, report)
	}
}

func (h *Host) waitGroup(ctx context.Context, g *backend.Group, report func(worker.Worker)) {
	reported := make([]bool, len(g.Recs))
	answer := func(i int, s swarm.Status, err error) {
		// Running is what a wait ends with that was cut short. So does the
		// deadline, which the plugin may see a moment before us.
		if reported[i] || errors.Is(err, client.ErrPluginGone) || err == nil && s.State.Active() ||
			errors.Is(err, context.DeadlineExceeded) && display.NearlyOver(ctx) {
			return
		}
		reported[i] = true
		w := worker.Of(g.Recs[i])
		w.Apply(swarm.StatusResult{Status: s, Err: err})
		h.roster.Remember(ctx, &w)
		report(w)
	}
	for ctx.Err() == nil {
		open := &backend.Group{Name: g.Name, Entry: g.Entry}
		for i, r := range g.Recs {
			if !reported[i] {
				open.At, open.Recs = append(open.At, i), append(open.Recs, r)
			}
		}
		if len(open.Recs) == 0 {
			return
		}
		err := h.plugins.AskBackend(ctx, g.Entry, true, func(p *backend.Peer) error { return h.waitBatch(ctx, p, open, answer) })
		if display.NearlyOver(ctx) {
			<-ctx.Done()
			return
		}
		if err != nil {
			for i := range g.Recs {
				answer(i, swarm.Status{}, err)
			}
		}
	}
}

// waitBatch waits until at least one of the workers has ended.
func (h *Host) waitBatch(ctx context.Context, p *backend.Peer, g *backend.Group, answer func(int, swarm.Status, error)) error {
	if p.Has(swarm.CapWatch) {
		return p.Backend.WaitBatch(ctx, g.Handles(), func(i int, s swarm.Status, err error) { answer(g.At[i], s, err) })
	}
	if err := sleep.For(ctx, backend.PollEvery); err != nil {
		return err
	}
	results, err := p.Backend.StatusBatch(ctx, g.Handles())
	for i, r := range results {
		answer(g.At[i], r.Status, r.Err)
	}
	return err
}
