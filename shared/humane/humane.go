// Package humane writes durations as short as a person needs them. Every layer may import
// it.
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
