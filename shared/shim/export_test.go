package shim

import "github.com/swarmhost/swarm/shared/proc"

// SetIdentify replaces what names a shim that was started, and returns what undoes it.
func SetIdentify(f func(pid int) (proc.Identity, error)) (undo func()) {
	before := identify
	identify = f
	return func() { identify = before }
}
