package nomad

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// statsLimit is how many allocations are measured at the same time: Nomad passes each
// question on to its node.
const statsLimit = 16

// Stats returns what Nomad's clients have measured last, every second by default. They
// report a share of the CPU, no CPU time, and nothing of storage.
func (b *Backend) Stats(ctx context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	results := make([]swarm.StatsResult, len(hs))
	snapshotOf := b.snapshots(ctx, "")
	slots := make(chan struct{}, statsLimit)
	var asking sync.WaitGroup
	for i, h := range hs {
		r, err := decode(h)
		if err != nil {
			results[i].Err = err
			continue
		}
		if len(hs) == 1 {
			snapshotOf = b.snapshots(ctx, r.Job)
		}
		s, err := snapshotOf(r.place)
		if results[i].Err = err; err != nil {
			continue
		}
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			results[i].Stats, results[i].Err = b.measure(ctx, s, r)
		})
	}
	asking.Wait()
	return results, ctx.Err()
}

func (b *Backend) measure(ctx context.Context, s snapshot, r ref) (swarm.Stats, error) {
	a := s.allocs[r.ID]
	switch st := b.statusIn(ctx, s, r); {
	case st.State == swarm.StateUnknown, st.State == swarm.StateRunning && (a == nil || a.ClientStatus != api.AllocClientStatusRunning):
		return swarm.Stats{}, fmt.Errorf("%w: %s", swarm.ErrUnavailable, st.Reason)
	case st.State != swarm.StateRunning:
		return swarm.Stats{}, fmt.Errorf("%w: the worker does not run", swarm.ErrNotFound)
	}
	usage, err := b.client.Allocations().Stats(&api.Allocation{ID: a.ID}, b.query(ctx, r.place))
	if err != nil {
		return swarm.Stats{}, b.explain(ctx, "measure the worker", err)
	}
	stats, ok := statsOf(usage.Tasks[taskName])
	if !ok {
		return swarm.Stats{}, fmt.Errorf("%w: Nomad has not measured the worker yet", swarm.ErrUnavailable)
	}
	return stats, nil
}

// statsOf converts the figures of a task. It returns false if there are none yet.
func statsOf(u *api.TaskResourceUsage) (swarm.Stats, bool) {
	if u == nil || u.Timestamp == 0 || u.ResourceUsage == nil {
		return swarm.Stats{}, false
	}
	s := swarm.Stats{Time: time.Unix(0, u.Timestamp)}
	if cpu := u.ResourceUsage.CpuStats; cpu != nil && slices.Contains(cpu.Measured, "Percent") {
		s.CPUShare = new(max(cpu.Percent, 0) / 100)
	}
	if m := u.ResourceUsage.MemoryStats; m != nil {
		measured := func(name string) bool { return slices.Contains(m.Measured, name) }
		switch {
		case measured("RSS"):
			s.Memory, s.MemoryKind = new(int64(m.RSS)), swarm.MemoryRSS
		case measured("Usage"):
			s.Memory = new(int64(m.Usage))
		}
		if measured("Max Usage") && s.Memory != nil {
			s.Peak = new(max(int64(m.MaxUsage), *s.Memory))
		}
	}
	// Drivers that count no processes name none.
	if n := len(u.Pids); n > 0 {
		s.Processes = &n
	}
	return s, s.Memory != nil || s.CPUShare != nil
}
