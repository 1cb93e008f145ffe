package server

// phase says how far the worker is. A kill may be under way in each of them but the
// last.
type phase uint8

const (
	// running: the main process runs, or is about to be started for the first time.
	running phase = iota
	// leaving: the main process has ended, and other processes of the worker may be
	// alive.
	leaving
	// pausing: nothing of the worker is alive until its next start.
	pausing
	// over: nothing of the worker is alive, and nothing will be. Its last output may
	// still come.
	over
)

// allows reports whether the worker can get to the phase next from p.
func (p phase) allows(next phase) bool {
	switch p {
	case running:
		return next == leaving
	case leaving:
		return next == pausing || next == over
	case pausing:
		// After a start that failed it pauses again.
		return next == running || next == pausing || next == over
	default:
		return false
	}
}

// enter moves the worker to another phase. It changes nothing and reports false if the
// worker can't get there from where it is.
func (k *shim) enter(next phase) bool {
	if !k.phase.allows(next) {
		return false
	}
	k.phase = next
	return true
}

// isEnding reports whether the processes of the worker are ending, so that they are
// looked at after each event.
func (k *shim) isEnding() bool { return k.phase == leaving || k.phase == running && k.forcing }
