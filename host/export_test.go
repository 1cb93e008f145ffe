package host

import (
	"github.com/swarmhost/swarm/host/kill"
)

// Killer returns the part of the host that kills workers.
func (h *Host) Killer() *kill.Killer { return h.Kill() }
