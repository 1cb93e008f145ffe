package server

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// members returns all living processes of the worker: those below the shim except other
// shims and the processes below those. After an error there may be more.
func (k *shim) members() ([]proc.Process, error) {
	var servers []proc.Process
	members, err := tree(k.threads, k.status.Main, func(p proc.Process) (bool, error) {
		stranger, err := k.isStranger(p)
		if stranger && k.servers[p.PID] == p.Start {
			servers = append(servers, p)
		}
		return stranger, err
	})
	k.seen.apart = false
	for _, s := range servers {
		more, treeErr := k.below(s)
		members = append(members, more...)
		k.seen.apart = k.seen.apart || len(more) > 0
		if treeErr != nil {
			err = treeErr
		}
	}
	return members, err
}

// isStranger reports whether a process below the shim, with all processes below it, does not
// belong to the worker, see [rundir.Marks.IsStranger].
func (k *shim) isStranger(p proc.Process) (bool, error) {
	// The main process belongs to the worker whatever its marks are.
	if p.Identity == k.status.Main || k.strangers[p.PID] == p.Start {
		return p.Identity != k.status.Main, nil
	}
	marks, err := rundir.MarksOf(p.PID)
	if err != nil || marks.Shim == "" && marks.Engine == "" || !marks.IsStranger(p, k.launch.ID) {
		return false, err
	}
	if k.strangers == nil {
		k.strangers, k.servers = make(map[int]uint64), make(map[int]uint64)
	}
	k.strangers[p.PID] = p.Start
	if marks.IsServer(p, k.launch.ID) {
		k.servers[p.PID] = p.Start
	}
	return true, nil
}

// below returns the processes below the server of an engine that carry the worker's id: the
// server gives it to none of its windows, so the worker has put them there.
func (k *shim) below(server proc.Process) ([]proc.Process, error) {
	var carriers []proc.Process
	_, err := proc.Tree(server.PID, func(p proc.Process) (bool, error) {
		if stranger, err := k.isStranger(p); stranger || err != nil {
			return stranger, err
		}
		id, _, err := proc.LookupEnv(p.PID, swarm.EnvWorkerID)
		if err == nil && id == k.launch.ID && !p.Ended {
			carriers = append(carriers, p)
		}
		return false, err
	})
	if errors.Is(err, proc.ErrGone) {
		err = nil
	}
	return carriers, err
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
