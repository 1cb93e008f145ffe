// Package humane writes quantities as short as a person needs them: ages, sizes and shares
// of a processor. Every layer may import it.
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

// Bytes formats a number of bytes in the largest binary unit, with three digits at most,
// such as "1.5G". A negative number is "0B".
func Bytes(n int64) string {
	const units = "BKMGTPE"
	value, unit := float64(max(n, 0)), 0
	for value >= 999.5 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	if unit > 0 && value < 9.95 {
		return fmt.Sprintf("%.1f%c", value, units[unit])
	}
	return fmt.Sprintf("%.0f%c", value, units[unit])
}
