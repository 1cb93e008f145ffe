package dash

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/wake"
)

// firstMeasure is the time between the first two looks at what workers use, which the first share
// of a CPU is computed from.
const firstMeasure = 300 * time.Millisecond

// Gauge measures the workers of a board while a person looks at them.
type Gauge struct {
	board *Board
	meter *stats.Meter
	every time.Duration
	share time.Duration

	mu   sync.Mutex
	ids  []string
	all  bool
	wake chan struct{}
}

// Gauge returns a gauge that measures nothing yet. The time between two of its looks is every;
// after a look that took long, it is share times as long as that.
func (b *Board) Gauge(m *stats.Meter, every time.Duration, share int) *Gauge {
	return &Gauge{board: b, meter: m, every: every, share: time.Duration(share), wake: make(chan struct{}, 1)}
}

// Want says which workers are measured: those with ids, or all. It may be called concurrently
// with Run.
func (g *Gauge) Want(ids []string, all bool) {
	g.mu.Lock()
	g.ids, g.all = ids, all
	g.mu.Unlock()
	wake.Up(g.wake)
}

// Run measures until ctx ends.
func (g *Gauge) Run(ctx context.Context) {
	var seen []string // the wanted workers of the last look
	first := true
	for ctx.Err() == nil {
		g.mu.Lock()
		ids, all := g.ids, g.all
		g.mu.Unlock()
		if !all && len(ids) == 0 {
			first = true
			select {
			case <-ctx.Done():
			case <-g.wake:
			}
			continue
		}
		sel := worker.Selection{Names: ids}
		if all {
			sel = worker.Selection{All: true}
		}
		began := time.Now()
		if figures, _, err := g.meter.Look(ctx, sel); err == nil {
			g.board.Measured(figuresOf(figures))
		}
		took := time.Since(began)
		pause := max(g.every, g.share*took)
		switch {
		case first:
			pause = firstMeasure // most of the time went into starting plugins
		case slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(seen, id) }):
			pause = max(firstMeasure, 10*took)
		}
		seen, first = ids, false
		_ = sleep.For(ctx, pause)
	}
}
