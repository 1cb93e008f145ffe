package stats

import (
	"fmt"
	"time"

	"github.com/swarmhost/swarm/shared/humane"
)

// None stands for a figure that is not known.
const None = "-"

// Share writes a share of one CPU: "7.5%", "120%".
func Share(share *float64) string {
	switch {
	case share == nil:
		return None
	case *share < 0.0995:
		return fmt.Sprintf("%.1f%%", 100**share)
	default:
		return fmt.Sprintf("%.0f%%", 100**share)
	}
}

// Size writes a number of bytes, see [humane.Bytes].
func Size(bytes *int64) string {
	if bytes == nil {
		return None
	}
	return humane.Bytes(*bytes)
}

// Count writes a number.
func Count(n *int) string {
	if n == nil {
		return None
	}
	return fmt.Sprint(*n)
}

// CPUTime writes a time in two units: "0.42s", "31.5s", "2m31s", "5h02m", "3d04h".
func CPUTime(d *time.Duration) string {
	if d == nil {
		return None
	}
	switch t := *d; {
	case t < 10*time.Second-5*time.Millisecond:
		return fmt.Sprintf("%.2fs", t.Seconds())
	case t < time.Minute-50*time.Millisecond:
		return fmt.Sprintf("%.1fs", t.Seconds())
	case t < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(t.Minutes()), int(t.Seconds())%60)
	case t < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(t.Hours()), int(t.Minutes())%60)
	default:
		return fmt.Sprintf("%dd%02dh", int(t.Hours())/24, int(t.Hours())%24)
	}
}
