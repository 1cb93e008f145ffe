package host

import (
	"context"
	"errors"
	"time"
)

// EventQuery says which events to read. Its zero value means all.
type EventQuery struct {
	// Worker is the name or the id of the only worker to read.
	Worker string
	// Since leaves out what happened before.
	Since time.Time
	// Lines is how many to return at most, the newest ones; nil: all.
	Lines *int
	// After leaves out the events up to that place in the history.
	After int64
}

var errLater = errors.New("not built yet")

// Events returns what happened, the oldest first. It writes nothing: an end that
// nobody recorded yet is not among them. A worker's history may outlive it; one
// of which nothing at all is known is [ErrNotFound].
func (h *Host) Events(ctx context.Context, q EventQuery) ([]Event, error) { return nil, errLater }

// FollowEvents calls each with the events that the query selects, and then with
// those that follow as they are written, until ctx ends or each returns an error.
func (h *Host) FollowEvents(ctx context.Context, q EventQuery, each func(Event) error) error {
	return errLater
}
