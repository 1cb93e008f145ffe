package client

import (
	"time"

	"github.com/swarmhost/swarm/shared/proc"
)

// SetIdentify replaces what names a shim that was started, and returns what undoes it.
func SetIdentify(f func(pid int) (proc.Identity, error)) (undo func()) {
	before := identify
	identify = f
	return func() { identify = before }
}

// SetUndoLimit replaces how long a shim may take to leave when its start is undone, and
// returns what undoes that.
func SetUndoLimit(d time.Duration) (undo func()) {
	before := undoLimit
	undoLimit = d
	return func() { undoLimit = before }
}
