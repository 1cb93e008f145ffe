package keeper

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/proc"
)

// envKeeper is [github.com/swarmhost/swarm/shared/swarm.EnvKeeper].
const envKeeper = "SWARM_KEEPER"

// members returns all living processes of the worker: what is below the shim
// except for other keepers and what is below those. With an error there may be
// more.
func (k *keeper) members() ([]proc.Process, error) {
	main := k.status.Main
	return tree(k.threads, main, func(p proc.Process) (bool, error) {
		// Whatever the main process was told to be, it is what we keep.
		if p.Identity == main {
			return false, nil
		}
		_, marked, err := proc.LookupEnv(p.PID, envKeeper)
		return marked, err
	})
}

// stopGroups stops whole process groups in one step of the kernel, which no fork
// gets past. A group is proven ours by a child of the shim in it, alive or not
// reaped yet: only the shim reaps, so the group's number can't be someone else's.
func stopGroups(members []proc.Process, done map[int]uint64) {
	self, own := os.Getpid(), unix.Getpgrp()
	for _, p := range members {
		if p.Parent == self && p.Group > 1 && p.Group != own && done[p.PID] != p.Start {
			_ = unix.Kill(-p.Group, unix.SIGSTOP)
		}
	}
}
