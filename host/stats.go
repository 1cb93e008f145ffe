package host

import (
	"context"

	"github.com/swarmhost/swarm/host/stats"
)

// Figures are what a worker uses, or has used.
type Figures = stats.Figures

// Stats measures the selected workers, with the share of a CPU that each uses, see
// [stats.Meter.Once].
func (h *Host) Stats(ctx context.Context, sel Selection) ([]Figures, []string, error) {
	return h.Meter().Once(ctx, sel)
}

// Meter returns a meter for callers that measure again and again.
func (h *Host) Meter() *stats.Meter {
	return stats.New(stats.Options{Plugins: h.plugins, Find: h.choose, Observe: h.observe})
}
