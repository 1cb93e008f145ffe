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
		running, err := h.stillRunning(ctx, reg, p, ended)
		if err != nil {
			return err
		}
		warnings, err = p.backend.Sweep(ctx, ended.handles(), running)
		return err
	})
	return warnings, err
}

// sweepAsks is up to how many other workers are asked how they are before a sweep. Of
// more than that the registry's word is taken: a worker that is gone without anybody
// having recorded it keeps what it used until the next sweep.
const sweepAsks = 50

// stillRunning returns the handles of the other workers that may be alive.
func (h *Host) stillRunning(ctx context.Context, reg *registry.Registry, p *peer, ended *group) ([]swarm.Handle, error) {
	ids, handles, err := reg.RunningHandles(ctx, ended.name)
	if err != nil {
		return nil, err
	}
	var others []swarm.Handle
	for i, handle := range handles {
		if indexID(ended.recs, ids[i]) < 0 {
			others = append(others, handle)
		}
	}
	if len(others) == 0 || len(others) > sweepAsks {
		return others, nil
	}
	results, err := p.backend.StatusBatch(ctx, others)
	if err != nil {
		return nil, err
	}
	var running []swarm.Handle
	for i, r := range results {
		if r.Err != nil || !over(r.Status) {
			running = append(running, others[i])
		}
	}
	return running, nil
}
