package stats

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// pause is the time between the two looks of [Meter.Once]: CPU time is counted in steps of
// 10 ms.
const pause = 200 * time.Millisecond

// looker is the part of a [roster.Roster] that a meter uses.
type looker interface {
	See(context.Context, worker.Selection) ([]registry.Record, []string, error)
	Observe(context.Context, []registry.Record) []worker.Worker
}

// Meter measures workers again and again: it remembers the previous look, which the share
// of a CPU is computed from. Its methods may be called at the same time.
type Meter struct {
	Plugins *backend.Plugins
	Roster  looker

	mu sync.Mutex
	// previous are the CPU times of the last look, by the worker's id.
	previous map[string]sample
}

type sample struct {
	at  time.Time
	cpu time.Duration
}

// Look measures the selected workers once, with one call to each backend. A selection
// without names, All and Tag means all. Workers that do not run are returned with what
// they used in all. Warnings name records that can't be read.
func (m *Meter) Look(ctx context.Context, sel worker.Selection) (figures []Figures, warnings []string, err error) {
	return m.look(ctx, sel, false)
}

// look is [Meter.Look]. With cpuOnly, figures with a CPU time may lack all else.
func (m *Meter) look(ctx context.Context, sel worker.Selection, cpuOnly bool) (figures []Figures, warnings []string, err error) {
	recs, warnings, err := m.Roster.See(ctx, sel)
	if err != nil {
		return nil, warnings, err
	}
	figures = m.measure(ctx, recs, cpuOnly)
	m.mu.Lock()
	defer m.mu.Unlock()
	now := make(map[string]sample, len(figures))
	for i := range figures {
		m.share(&figures[i], now)
	}
	m.previous = now
	// A record may go with the worker's end, which no process has written yet.
	gone := func(f Figures) bool { return f.Worker.Retain == registry.RetainNone && f.Worker.Gone() }
	if i := slices.IndexFunc(figures, gone); i >= 0 && len(sel.Names) > 0 {
		return nil, warnings, &store.NotFoundError{Name: figures[i].Worker.Name}
	}
	return slices.DeleteFunc(figures, gone), warnings, ctx.Err()
}

// Once measures the selected workers twice, a moment apart, for the share of a CPU that
// they use. It is for a meter that is not used again.
func (m *Meter) Once(ctx context.Context, sel worker.Selection) (figures []Figures, warnings []string, err error) {
	// The first look is returned only if it has no CPU time, so that nothing is left out.
	figures, warnings, err = m.look(ctx, sel, true)
	m.mu.Lock()
	again := len(m.previous) > 0
	m.mu.Unlock()
	if err != nil || !again {
		return figures, warnings, err
	}
	if err := sleep.For(ctx, pause); err != nil {
		return nil, warnings, err
	}
	return m.Look(ctx, sel)
}

// share fills in the share of a CPU, and remembers the CPU time.
func (m *Meter) share(f *Figures, now map[string]sample) {
	if f.Stats == nil {
		return
	}
	f.CPU = f.Stats.CPUShare
	if f.Stats.CPUTime == nil {
		return
	}
	s := sample{f.Stats.Time, *f.Stats.CPUTime}
	now[f.Worker.ID] = s
	before, ok := m.previous[f.Worker.ID]
	if took := s.at.Sub(before.at); ok && took > 0 && f.CPU == nil {
		// The time of a process that ends during a look may be missing from that look.
		f.CPU = new(max(0, float64(s.cpu-before.cpu)/float64(took)))
	}
}

func (m *Meter) measure(ctx context.Context, recs []registry.Record, cpuOnly bool) []Figures {
	figures := make([]Figures, len(recs))
	for i, r := range recs {
		figures[i].Worker = worker.Of(r)
		if r.State == registry.Starting {
			figures[i].Worker.Status = worker.StatusStarting
		}
	}
	backend.Each(m.Plugins.Groups(recs, registry.Record.IsRunning), func(g *backend.Group) {
		for i, r := range m.ask(ctx, g, cpuOnly) {
			f := &figures[g.At[i]]
			if f.Err = r.Err; r.Err == nil {
				f.Stats, f.Worker.Status = &r.Stats, worker.StatusRunning
			}
		}
	})
	m.observe(ctx, recs, figures)
	return figures
}

// observe asks how the workers are that have no figures: they may have ended.
func (m *Meter) observe(ctx context.Context, recs []registry.Record, figures []Figures) {
	var at []int
	var silent []registry.Record
	for i, f := range figures {
		if f.Err != nil {
			at, silent = append(at, i), append(silent, recs[i])
		}
	}
	if len(silent) == 0 || ctx.Err() != nil {
		return
	}
	for i, w := range m.Roster.Observe(ctx, silent) {
		f := &figures[at[i]]
		if f.Worker = w; w.Status != worker.StatusRunning && errors.Is(f.Err, swarm.ErrNotFound) {
			f.Err = nil
		}
	}
}

// ask asks a backend for the figures of its workers. A backend that can't be asked is the
// error of each of them.
func (m *Meter) ask(ctx context.Context, g *backend.Group, cpuOnly bool) []swarm.StatsResult {
	ctx, cancel := m.Plugins.Within(ctx, g.Name, g.StatusLimit())
	defer cancel()
	results, err := backend.Results(ctx, m.Plugins, g, func(p *backend.Peer) ([]swarm.StatsResult, error) {
		if !p.Has(swarm.CapStats) {
			return nil, worker.Unsupported(g.Name, swarm.CapStats, "")
		}
		measure := p.Backend.Stats
		if cpuOnly {
			measure = p.Backend.CPUTimes
		}
		return measure(ctx, g.Handles())
	})
	if err != nil {
		results = slices.Repeat([]swarm.StatsResult{{Err: backend.Late(err, g.Name, g.StatusLimit())}}, len(g.Recs))
	}
	return results
}

// Figures are what a worker uses, or has used.
type Figures struct {
	Worker worker.Worker
	// Stats are the figures of a running worker; nil if there are none.
	Stats *swarm.Stats
	// CPU is the share of one CPU that the worker used since the previous look; nil if that
	// is not known, as at the first look.
	CPU *float64
	// Err is the reason why a running worker has no figures.
	Err error
}

// Usage returns what the worker has used so far, or in all if it has ended. The numbers
// that are not known are nil.
func (f Figures) Usage() swarm.Usage {
	switch {
	case f.Stats != nil:
		return f.Stats.Usage
	case f.Worker.Exit != nil && f.Worker.Exit.Usage != nil:
		return *f.Worker.Exit.Usage
	default:
		return swarm.Usage{}
	}
}

// None stands for a figure that is not known.
const None = "-"

// Share writes a share of one CPU, see [humane.Share].
func Share(share *float64) string { return text(share, humane.Share) }

// Size writes a number of bytes, see [humane.Bytes].
func Size(bytes *int64) string { return text(bytes, humane.Bytes) }

// Count writes a number.
func Count(n *int) string { return text(n, strconv.Itoa) }

// CPUTime writes a time on CPUs, see [humane.CPUTime].
func CPUTime(d *time.Duration) string { return text(d, humane.CPUTime) }

func text[N any](n *N, format func(N) string) string {
	if n == nil {
		return None
	}
	return format(*n)
}
