//go:build !linux

package box

import (
	"errors"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// Start makes no sandbox: this system has none.
func Start(Spec) (*Box, proc.Identity, error) {
	return nil, proc.Identity{}, errors.New(rundir.NoSandbox + ": this system has none")
}

// Inside is for a process that this system does not start.
func Inside() int { return 2 }
