package stats

import (
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

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
