package shim

import (
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// LaunchOf returns what the shim has to know to start the worker of a spec. Its
// environment is that of [swarm.Spec.Environ] without what a worker must not
// have: the keeper's marker and its caller's token.
func LaunchOf(spec swarm.Spec) rundir.Launch {
	env := slices.DeleteFunc(spec.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == swarm.EnvKeeper || name == swarm.EnvToken
	})
	return rundir.Launch{
		ID:          spec.ID,
		Command:     spec.Command,
		Dir:         spec.Dir,
		Env:         env,
		GraceMS:     max(0, spec.Kill.Grace.Milliseconds()),
		Force:       spec.Kill.Force,
		MainOnly:    spec.Kill.Mode == swarm.KillMain,
		OutputLimit: spec.OutputLimit,
	}
}
