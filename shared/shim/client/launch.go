package client

import (
	"time"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/sandbox"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// LaunchOf returns the launch file for the worker of a spec. Its environment is
// [swarm.Spec.Environ] without the variables that a worker must not have: the marks of
// shims and engines and its caller's token. The worker's own token is in [swarm.Spec.Env].
func LaunchOf(spec swarm.Spec) rundir.Launch {
	if spec.Local != nil {
		local := *spec.Local
		local.HostEnv = environ.Unset(local.HostEnv, swarm.EnvToken)
		spec.Local = &local
	}
	env := environ.Unset(spec.Environ(), swarm.EnvShim, swarm.EnvEngine)
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
		Limits:      spec.Limits,
		Restart:     restartOf(spec.Restart.OrDefault()),
	}
	if spec.Local != nil && !spec.Limits.IsZero() {
		l.Group = cgroup.ParentName(spec.Local.StateDir)
	}
	if signal, err := swarm.ParseSignal(spec.Kill.Signal); err == nil {
		l.Signal = signal
	}
	if o := spec.Owner; o != nil {
		l.Owner = rundir.Identity{PID: o.PID, Start: o.Start, Boot: o.Boot}
	}
	return l
}

// restartOf rounds up to milliseconds: no delay is a loop without a pause.
func restartOf(r swarm.Restart) swarm.Restart {
	if r.When != swarm.RestartOnFailure && r.When != swarm.RestartAlways {
		return swarm.Restart{}
	}
	for _, d := range []*time.Duration{&r.MinDelay, &r.MaxDelay, &r.Window} {
		*d = max(0, *d+time.Millisecond-1).Truncate(time.Millisecond)
	}
	return r
}

// Enclose has the worker of a launch run in the sandbox of its spec; without one it changes
// nothing. A backend that announces [swarm.CapSandbox] calls it before it starts anything.
// The error says what can't be done on this machine.
func Enclose(l *rundir.Launch, spec swarm.Spec) error {
	if spec.Sandbox == nil {
		return nil
	}
	if err := spec.Sandbox.Check(); err != nil {
		return err
	}
	plan, err := sandbox.Look(spec)
	if err == nil {
		l.Wrap = plan.Args()
	}
	return err
}
