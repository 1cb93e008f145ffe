package host

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// sweep lets the backends of the killed workers drop what nobody uses any more.
func (k *killing) sweep(ctx context.Context) {
	ended := k.h.groups(k.recs, func(r registry.Record) bool {
		at := k.place(r.ID)
		return isRunning(r) && k.known[at] && k.outcomes[at].Err == nil
	})
	var mu sync.Mutex
	var warnings []Warning
	each(ended, func(g *group) {
		lines, err := k.h.sweep(ctx, g)
		if err != nil {
			lines = append(lines, fmt.Sprintf("cannot clean up after the workers of backend '%s': %v", g.name, err))
		}
		mu.Lock()
		defer mu.Unlock()
		for _, l := range lines {
			warnings = append(warnings, Warning{Text: strings.TrimSpace(l)})
		}
	})
	for _, w := range warnings {
		k.warn(w)
	}
}

// sweep asks the backend of workers that have ended to drop what they shared.
func (h *Host) sweep(ctx context.Context, ended *group) (warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	if ended.err != nil {
		return nil, nil // then nothing of it has ended either
	}
	err = h.askBackend(ctx, ended.entry, true, func(p *peer) error {
		if !p.Has(swarm.CapSweep) {
			return nil
		}
		reg, err := h.reading(ctx)
		if err != nil || reg == nil {
			return err
		}
		recs, _, err := reg.Read(ctx, registry.Query{State: registry.Running, Backend: ended.name})
		if err != nil {
			return err
		}
		others := &group{name: ended.name, entry: ended.entry}
		for _, r := range recs {
			if indexID(ended.recs, r.ID) < 0 {
				others.recs = append(others.recs, r)
			}
		}
		running, err := h.stillRunning(ctx, p, others)
		if err != nil {
			return err
		}
		warnings, err = p.backend.Sweep(ctx, ended.handles(), running)
		return err
	})
	return warnings, err
}

// stillRunning returns the handles of the workers that may be alive.
func (h *Host) stillRunning(ctx context.Context, p *peer, g *group) ([]swarm.Handle, error) {
	if len(g.recs) == 0 {
		return nil, nil
	}
	results, err := p.backend.StatusBatch(ctx, g.handles())
	if err != nil {
		return nil, err
	}
	var running []swarm.Handle
	for i, r := range results {
		if r.Err != nil || !over(r.Status) {
			running = append(running, g.recs[i].Handle)
		}
	}
	return running, nil
}
