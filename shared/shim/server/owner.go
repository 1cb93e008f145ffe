package server

import (
	"context"
	"errors"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// watchOwner closes gone when the owner has ended. It returns an error for an owner that
// has ended already, or that can't be watched.
func watchOwner(owner rundir.Identity, gone chan<- struct{}) error {
	if owner == (rundir.Identity{}) {
		return nil
	}
	if !owner.Alive() {
		return errors.New("the owner (pid " + strconv.Itoa(owner.PID) + ") has ended")
	}
	go func() {
		// Without an answer the worker stays: it is not known to have no owner.
		if proc.AwaitEnd(context.Background(), owner) == nil {
			close(gone)
		}
	}()
	return nil
}

// ownerGone ends the worker because its owner has ended.
func (k *shim) ownerGone() {
	k.ownerEnded = nil
	sig := proc.SignalNumber(k.launch.Signal)
	if sig == 0 {
		sig = unix.SIGTERM
	}
	k.beginOnce(swarm.CauseOwner, "its owner (pid "+strconv.Itoa(k.launch.Owner.PID)+") ended", sig)
}
