package host

import "context"

// WatchRequest says whom to tell what. Functions that are nil are not called.
type WatchRequest struct {
	// Ready is called once, when nothing that happens from then on is missed.
	Ready func()
	// Event is called with every event that is written from then on, by whomever.
	Event func(Event) error
	// Warn is called with what can't be watched or recorded.
	Warn func(Warning)
}

// Watch records the ends of workers as they happen, removes what a retention time
// has ended and kills workers whose owner is gone and whose backend does not do
// it, until ctx ends or Event returns an error.
func (h *Host) Watch(ctx context.Context, req WatchRequest) error { return errLater }
