package swarm

import (
	"context"
	"time"
)

// Lister tells which workers the engine has, whoever spawned them: hosts with
// other state directories, on other machines. From it a host adopts workers, which
// are then found and ended from there too.
//
// It is for backends that are not local. A local one tells of nobody's workers
// but its caller's, see [Local.StateDir], and those the caller knows.
type Lister interface {
	// List calls each for every worker that the engine knows, running or ended, once, in no
	// order, and never twice at the same time. If the plugin's settings choose a part of
	// the engine, such as a namespace, List covers that part. It leaves out everything in
	// the engine that is not a worker of this backend, and each worker that can't be read;
	// neither makes List fail. It changes nothing, and returns an error of each unchanged.
	//
	// Errors: [ErrUnavailable] when the engine can't be asked.
	List(ctx context.Context, each func(Listed) error) error
}

// Listed is one worker of an engine.
type Listed struct {
	// Spec is what the worker was spawned from, as far as the engine can tell; what
	// it can't is zero. ID, Name and Command are always set. Env, Owner and Local
	// never are: the environment may hold secrets, and the owner is on another
	// machine. The SDK removes them.
	Spec Spec
	// Handle is as good as the one that Spawn returned; the two need not be equal.
	Handle Handle
	// Created is when it was spawned; zero if not known.
	Created time.Time
	// Status is how it is, as Status would tell.
	Status Status
}
