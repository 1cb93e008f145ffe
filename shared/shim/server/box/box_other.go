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

// Exec runs nothing: there is no sandbox.
func (b *Box) Exec(Command) (int, error) { return 0, errors.New("this system has no sandbox") }

// Child returns an error: there is no sandbox.
func (b *Box) Child(int) (proc.Identity, error) { return proc.Identity{}, proc.ErrGone }
