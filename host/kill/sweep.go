package kill

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (k *killRun) sweep(ctx context.Context) {
	ended := k.Plugins.Groups(k.recs, func(r registry.Record) bool {
		at := k.place(r.ID)
		if _, mute := k.byShim.Load(r.ID); mute {
			return false
		}
		return r.IsRunning() && k.known[at] && k.outcomes[at].Err == nil
	})
	var mu sync.Mutex
	var warnings []worker.Warning
	backend.Each(ended, func(g *backend.Group) {
		swept := k.sweepGroup(ctx, g, "the workers of")
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, swept...)
	})
	for _, w := range warnings {
		k.warn(w)
	}
}

// sweepCleaned lets backends without shims remove what cleaned workers have left in their
// engines, such as containers. The others are not started for it.
func (k *Killer) sweepCleaned(ctx context.Context, recs []registry.Record, all []cleanRun) {
	cleaned := k.Plugins.Groups(recs, func(r registry.Record) bool {
		c := &all[registry.IndexOf(recs, r.ID)]
		return c.elsewhere && c.Err == nil
	})
	backend.Each(cleaned, func(g *backend.Group) {
		c := &all[g.At[0]]
		c.Warnings = append(c.Warnings, k.sweepGroup(ctx, g, "it in")...)
	})
}

// sweepGroup asks the backend of ended workers to remove their shared resources. A failure
// is a warning, which calls the workers what.
func (k *Killer) sweepGroup(ctx context.Context, ended *backend.Group, what string) (warnings []worker.Warning) {
	ctx, cancel := k.Plugins.Within(ctx, ended.Name, backend.StatusLimit)
	defer cancel()
	if ended.Err != nil {
		return nil // then nothing of it has ended either
	}
	var lines []string
	err := k.Plugins.AskBackend(ctx, ended.Entry, true, func(p *backend.Peer) error {
		if !p.Has(swarm.CapSweep) {
			return nil
		}
		reg, err := k.Store.ToRead(ctx)
		if err != nil || reg == nil {
			return err
		}
		running, err := k.stillRunning(ctx, reg, p, ended)
		if err != nil {
			return err
		}
		lines, err = p.Backend.Sweep(ctx, ended.Handles(), running)
		return err
	})
	if err != nil {
		lines = append(lines, fmt.Sprintf("cannot clean up after %s backend '%s': %v", what, ended.Name, err))
	}
	for _, l := range lines {
		warnings = append(warnings, worker.Warning{Text: strings.TrimSpace(l)})
	}
	return warnings
}

// sweepAsks is up to how many other workers are asked how they are before a sweep. Of
// more than that the registry's word is taken: a worker that is gone without anybody
// having recorded it keeps what it used until the next sweep.
const sweepAsks = 50

func (k *Killer) stillRunning(ctx context.Context, reg *registry.Registry, p *backend.Peer, ended *backend.Group) ([]swarm.Handle, error) {
	ids, handles, err := reg.RunningHandles(ctx, ended.Name)
	if err != nil {
		return nil, err
	}
	var others, running, unsure []swarm.Handle
	var otherIDs []string
	for i, handle := range handles {
		if registry.IndexOf(ended.Recs, ids[i]) < 0 {
			others, otherIDs = append(others, handle), append(otherIDs, ids[i])
		}
	}
	if len(others) > sweepAsks {
		return others, nil
	}
	machine := new(client.Look)
	for i, handle := range others {
		if k.runsByShim(machine, otherIDs[i]) {
			running = append(running, handle)
		} else {
			unsure = append(unsure, handle)
		}
	}
	if len(unsure) == 0 {
		return running, nil
	}
	results, err := p.Backend.StatusBatch(ctx, unsure)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if r.Err != nil || !history.Over(r.Status) {
			running = append(running, unsure[i])
		}
	}
	return running, nil
}

// runsByShim reports whether a worker runs, as its shim says. Its backend could also report
// where the worker is, and may wait for an engine for that, which is another one than that of
// the ended workers.
func (k *Killer) runsByShim(machine *client.Look, id string) bool {
	if !k.hasShim(id) {
		return false
	}
	s, err := machine.Status(k.Dir.RunDir(id), id)
	return err == nil && s.State == swarm.StateRunning
}
