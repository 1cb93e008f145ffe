package fake

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// The memory of programs, in bytes.
const (
	memory     = 1 << 20
	heldMemory = 65 << 20
)

func (w *worker) spend(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spent += d
}

// Stats implements [swarm.Measurer].
func (b *Backend) Stats(_ context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	results := make([]swarm.StatsResult, len(hs))
	for i, h := range hs {
		results[i].Stats, results[i].Err = b.stats(h)
	}
	return results, nil
}

func (b *Backend) stats(h swarm.Handle) (swarm.Stats, error) {
	w, err := b.running(h)
	if err != nil {
		return swarm.Stats{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	held := int64(memory)
	if w.spec.Command[0] == "hold" {
		held = heldMemory
	}
	return swarm.Stats{
		Time:   time.Now(),
		Usage:  swarm.Usage{CPUTime: new(w.spent), Peak: &held, Read: new(int64), Written: new(int64)},
		Memory: &held, MemoryKind: swarm.MemoryRSS,
		Processes: new(1), Threads: new(1),
	}, nil
}
