package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// statusLimit is how long a backend may take to tell how its workers are.
const statusLimit = 10 * time.Second

// group is the workers of one call that one plugin owns.
type group struct {
	name  string
	entry catalog.Entry
	// err is why there is no entry.
	err error
	// at are the places of the workers in the list that was grouped.
	at   []int
	recs []registry.Record
}

// handles returns the handles of the group's workers, in their order.
func (g *group) handles() []swarm.Handle {
	hs := make([]swarm.Handle, len(g.recs))
	for i, r := range g.recs {
		hs[i] = r.Handle
	}
	return hs
}

// groups sorts the records that pick accepts by the plugin that owns them.
func (h *Host) groups(recs []registry.Record, pick func(registry.Record) bool) []*group {
	var gs []*group
	byKey := make(map[string]*group)
	for i, r := range recs {
		if !pick(r) {
			continue
		}
		key := r.Backend
		if r.Plugin != nil {
			// What was read from JSON can be written as JSON.
			b, _ := json.Marshal(r.Plugin)
			key += "\x00" + string(b)
		}
		g := byKey[key]
		if g == nil {
			g = &group{name: r.Backend}
			g.entry, g.err = h.entry(r.Backend, r.Plugin)
			byKey[key], gs = g, append(gs, g)
		}
		g.at, g.recs = append(g.at, i), append(g.recs, r)
	}
	return gs
}

// each calls f for all groups at the same time and waits for them.
func each(gs []*group, f func(*group)) {
	var wg sync.WaitGroup
	for _, g := range gs {
		wg.Go(func() { f(g) })
	}
	wg.Wait()
}

// statuses asks the group's backend for all its workers. A backend that can't be
// asked is the error of each of them.
func (h *Host) statuses(ctx context.Context, g *group) []swarm.StatusResult {
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	var results []swarm.StatusResult
	err := g.err
	if err == nil {
		err = h.askBackend(ctx, g.entry, true, func(p *peer) error {
			var err error
			results, err = p.backend.StatusBatch(ctx, g.handles())
			return err
		})
	}
	if err == nil && len(results) != len(g.recs) {
		err = fmt.Errorf("backend '%s' answered for %d of %d workers", g.name, len(results), len(g.recs))
	}
	if err == nil {
		return results
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: backend '%s' did not answer within %s", swarm.ErrUnavailable, g.name, statusLimit)
	}
	results = make([]swarm.StatusResult, len(g.recs))
	for i := range results {
		results[i].Err = err
	}
	return results
}
