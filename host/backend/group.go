package backend

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

// StatusLimit is how long a backend may take to return the status of a worker, or its list.
const StatusLimit = 10 * time.Second

// statusEach is how much longer a backend may take for each of many workers: on a busy machine,
// thousands take more than [StatusLimit].
const statusEach = 5 * time.Millisecond

// StatusLimit is how long the backend may take to return the status of all workers of the group.
func (g *Group) StatusLimit() time.Duration {
	return (StatusLimit + time.Duration(len(g.Recs))*statusEach).Round(time.Second)
}

// PollEvery is how often a backend that can't report an end is asked.
const PollEvery = 500 * time.Millisecond

// Group is the workers of one call that one plugin owns.
type Group struct {
	Name  string
	Entry catalog.Entry
	// Err is the reason why Entry is missing.
	Err error
	// At are the places of the workers in the list that was grouped.
	At   []int
	Recs []registry.Record
	// Can are the capabilities of the plugin, nil until it was asked for something.
	Can []swarm.Capability
}

// Handles returns the handles of the group's workers, in their order.
func (g *Group) Handles() []swarm.Handle {
	hs := make([]swarm.Handle, len(g.Recs))
	for i, r := range g.Recs {
		hs[i] = r.Handle
	}
	return hs
}

// Groups sorts the records that pick accepts by the plugin that owns them.
func (ps *Plugins) Groups(recs []registry.Record, pick func(registry.Record) bool) []*Group {
	var gs []*Group
	byKey := make(map[string]*Group)
	for i, r := range recs {
		if !pick(r) {
			continue
		}
		key := r.Backend
		if r.Plugin != nil {
			// It came from JSON, so it can be encoded as JSON.
			b, _ := json.Marshal(r.Plugin)
			key += "\x00" + string(b)
		}
		g := byKey[key]
		if g == nil {
			g = &Group{Name: r.Backend}
			g.Entry, g.Err = ps.Entry(r.Backend, r.Plugin)
			byKey[key], gs = g, append(gs, g)
		}
		g.At, g.Recs = append(g.At, i), append(g.Recs, r)
	}
	return gs
}

// Each calls f for all groups at the same time and waits for them.
func Each(gs []*Group, f func(*Group)) {
	var wg sync.WaitGroup
	for _, g := range gs {
		wg.Go(func() { f(g) })
	}
	wg.Wait()
}

// Statuses asks the group's backend for all its workers. A backend that can't be
// asked is the error of each of them.
func (ps *Plugins) Statuses(ctx context.Context, g *Group) []swarm.StatusResult {
	ctx, cancel := context.WithTimeout(ctx, g.StatusLimit())
	defer cancel()
	var results []swarm.StatusResult
	err := g.Err
	if err == nil {
		err = ps.AskBackend(ctx, g.Entry, true, func(p *Peer) error {
			var err error
			g.Can = p.Capabilities
			results, err = p.Backend.StatusBatch(ctx, g.Handles())
			return err
		})
	}
	if err == nil && len(results) != len(g.Recs) {
		err = fmt.Errorf("backend '%s' answered for %d of %d workers", g.Name, len(results), len(g.Recs))
	}
	if err == nil {
		return results
	}
	err = Late(err, g.Name, g.StatusLimit())
	results = make([]swarm.StatusResult, len(g.Recs))
	for i := range results {
		results[i].Err = err
	}
	return results
}

// Late returns err, or the error of a backend that has used up its limit if err is the end of a deadline.
func Late(err error, name string, limit time.Duration) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: backend '%s' did not answer within %s", swarm.ErrUnavailable, name, limit)
	}
	return err
}
