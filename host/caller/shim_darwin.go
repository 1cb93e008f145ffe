package caller

import "github.com/swarmhost/swarm/shared/proc"

// shimDir returns the run directory of a shim, which is its only argument,
// or anything else for another process.
func shimDir(pid int) string {
	if args := proc.Args(pid); len(args) == 2 {
		return args[1]
	}
	return ""
}
