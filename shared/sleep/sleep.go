// Package sleep waits for a while, but no longer than a context lasts.
package sleep

import (
	"context"
	"time"
)

// For returns nil after d, or the cause of the end of ctx as soon as ctx ends. It returns at once
// if d is not positive, also with that cause if ctx has ended.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
