package agent

import "time"

// SetUndoLimit shortens the limit of an undo for a test, which restores it.
func SetUndoLimit(d time.Duration) (restore func()) {
	before := undoLimit
	undoLimit = d
	return func() { undoLimit = before }
}
