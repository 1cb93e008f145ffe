package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	ctx, cancel := ps.Within(ctx, g.Name, g.StatusLimit())
	defer cancel()
	results, err := Results(ctx, ps, g, func(p *Peer) ([]swarm.StatusResult, error) {
		g.Can = p.Capabilities
		return p.Backend.StatusBatch(ctx, g.Handles())
	})
	if err != nil {
		results = slices.Repeat([]swarm.StatusResult{{Err: Late(err, g.Name, g.StatusLimit())}}, len(g.Recs))
	}
	return results
}

// AskGroup is like AskBackend, for an idempotent call about the workers of a group.
func (ps *Plugins) AskGroup(ctx context.Context, g *Group, f func(*Peer) error) error {
	if g.Err != nil {
		return g.Err
	}
	return ps.AskBackend(ctx, g.Entry, true, f)
}

// Results asks the group's backend, with an idempotent call, for one result for each of its workers.
func Results[T any](ctx context.Context, ps *Plugins, g *Group, ask func(*Peer) ([]T, error)) (results []T, err error) {
	err = ps.AskGroup(ctx, g, func(p *Peer) (err error) {
		results, err = ask(p)
		return err
	})
	if err == nil && len(results) != len(g.Recs) {
		err = fmt.Errorf("backend '%s' answered for %d of %d workers", g.Name, len(results), len(g.Recs))
	}
	return results, err
}

// Late returns err, or the error of a backend that has used up its limit if err is the end of a deadline.
func Late(err error, name string, limit time.Duration) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: backend '%s' did not answer within %s", swarm.ErrUnavailable, name, limit)
	}
	return err
}
