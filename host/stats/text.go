package stats

import (
	"strconv"
	"time"

	"github.com/swarmhost/swarm/shared/humane"
)

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
