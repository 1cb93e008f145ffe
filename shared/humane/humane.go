// Package humane writes durations and sizes as short as a person needs them. Every layer
// may import it.
package humane

import (
	"fmt"
	"time"
)

// Age formats a duration in its largest unit, such as "5m". A negative one is "0s".
func Age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
}

// Bytes formats a number of bytes in at most three digits, with binary units: "512B",
// "3.2MiB", "17GiB".
func Bytes(bytes int64) string {
	n := float64(bytes)
	if n < 1024 {
		return fmt.Sprintf("%.0fB", n)
	}
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		switch n /= 1024; {
		case n < 9.95:
			return fmt.Sprintf("%.1f%s", n, unit)
		case n < 999.5:
			return fmt.Sprintf("%.0f%s", n, unit)
		}
	}
	return fmt.Sprintf("%.0fPiB", n/1024)
}
