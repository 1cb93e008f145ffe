package host

import "context"

// Collected is what a collection found and did.
type Collected struct {
	// Ended are the workers whose end was recorded, Removed those whose record
	// went, Killed those whose owner is gone.
	Ended, Removed, Killed []Worker
	// RunDirs is how many run directories of no worker were removed.
	RunDirs  int
	Warnings []Warning
}

// Collect does once what [Host.Watch] does as it goes, over all backends.
func (h *Host) Collect(ctx context.Context) (Collected, error) { return Collected{}, errLater }
