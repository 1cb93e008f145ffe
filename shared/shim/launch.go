package shim

import (
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// LaunchOf returns what the shim has to know to start the worker of a spec. Its
// environment is that of [swarm.Spec.Environ] without what a worker must not
// have: the keeper's marker and its caller's token. One of its own is in
// [swarm.Spec.Env].
func LaunchOf(spec swarm.Spec) rundir.Launch {
	if spec.Local != nil {
		local := *spec.Local
		local.HostEnv = without(local.HostEnv, swarm.EnvToken)
		spec.Local = &local
	}
	env := without(spec.Environ(), swarm.EnvKeeper)
	l := rundir.Launch{
		ID:          spec.ID,
		Command:     spec.Command,
		Dir:         spec.Dir,
		Env:         env,
		Stdin:       spec.Stdin,
		Transcript:  spec.Transcript,
		GraceMS:     max(0, spec.Kill.Grace.Milliseconds()),
		Force:       spec.Kill.Force,
		MainOnly:    spec.Kill.Mode == swarm.KillMain,
		OutputLimit: spec.OutputLimit,
		Restart:     restartOf(spec.Restart.OrDefault()),
	}
	if signal, err := swarm.ParseSignal(spec.Kill.Signal); err == nil {
		l.Signal = signal
	}
	if o := spec.Owner; o != nil {
		l.Owner = rundir.Identity{PID: o.PID, Start: o.Start, Boot: o.Boot}
	}
	return l
}

// without returns env without a variable.
func without(env []string, variable string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, variable+"=") })
}

// restartOf rounds up to milliseconds: no delay is a loop without a pause.
func restartOf(r swarm.Restart) rundir.Restart {
	if r.When != swarm.RestartOnFailure && r.When != swarm.RestartAlways {
		return rundir.Restart{}
	}
	ms := func(d time.Duration) int64 { return max(0, (d + time.Millisecond - 1).Milliseconds()) }
	return rundir.Restart{
		When:     string(r.When),
		MinMS:    ms(r.MinDelay),
		MaxMS:    ms(r.MaxDelay),
		Budget:   r.Budget,
		WindowMS: ms(r.Window),
	}
}
