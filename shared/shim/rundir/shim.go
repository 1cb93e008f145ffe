package rundir

import (
	"bytes"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/proc"
)

// IsShim reports whether a run directory proves that a process is a shim: the process
// works in it, and its status.json names the process. The mark in the environment of
// a shim is no proof, since any process can set it.
func IsShim(id proc.Identity) bool {
	path := proc.File(id.PID, StatusFile)
	if path == "" {
		return false
	}
	b, err := safefile.Read(path, MaxStatus)
	if err != nil {
		return false
	}
	var o object
	o.identity("shim", id)
	return bytes.Contains(b, o.b)
}
