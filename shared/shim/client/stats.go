package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// measurement is [proc.Measure], or a part of it.
type measurement func(root proc.Identity, skip func(proc.Process) (bool, error)) (proc.Figures, error)

// Stats measures what a worker uses, see [swarm.Measurer]. The shim itself, and what runs
// below shims of other workers, does not count.
func Stats(dir, id string) (swarm.Stats, error) { return measure(dir, id, proc.Measure) }

// CPUTimes measures the CPU time of a worker alone, see [swarm.CPUMeasurer].
func CPUTimes(dir, id string) (swarm.Stats, error) { return measure(dir, id, proc.MeasureCPU) }

func measure(dir, id string, how measurement) (swarm.Stats, error) {
	st, err := readFacts(dir, id)
	switch {
	case errors.Is(err, errNoFacts):
		return swarm.Stats{}, fmt.Errorf("%w: %w", swarm.ErrNotFound, err)
	case err != nil:
		return swarm.Stats{}, err
	case st.State == rundir.StateEnded || !keeps(dir, st):
		return swarm.Stats{}, notRunning(dir, st)
	}
	now := time.Now()
	f, err := how(st.Shim, func(p proc.Process) (bool, error) { return isForeign(p, st) })
	switch {
	case errors.Is(err, proc.ErrGone):
		return swarm.Stats{}, notRunning(dir, st)
	case err != nil:
		return swarm.Stats{}, fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	return statsOf(f, now), nil
}

// Processes returns the living processes of a worker, each before its children, without the
// shim itself and what runs below shims of other workers. A worker that does not run, or
// that can't be seen from here, has none.
func Processes(dir, id string) []proc.Process {
	st, err := readFacts(dir, id)
	if err != nil || st.State == rundir.StateEnded || !keeps(dir, st) {
		return nil
	}
	tree, err := proc.Tree(st.Shim.PID, func(p proc.Process) (bool, error) { return isForeign(p, st) })
	if err != nil || !st.Shim.Alive() {
		return nil // the pid may have been used again
	}
	return tree
}

// notRunning returns the error for a worker without processes that can be measured.
func notRunning(dir string, st rundir.Status) error {
	if st.State != rundir.StateEnded && listens(dir) {
		return fmt.Errorf("%w: its processes can't be seen from here", swarm.ErrUnavailable)
	}
	return fmt.Errorf("%w: the worker does not run", swarm.ErrNotFound)
}

func statsOf(f proc.Figures, now time.Time) swarm.Stats {
	s := swarm.Stats{
		Time:      now,
		Usage:     swarm.Usage{CPUTime: f.CPU, Peak: f.Peak, Read: f.Read, Written: f.Written},
		Memory:    f.Memory,
		Processes: &f.Processes,
		Threads:   f.Threads,
	}
	switch {
	case f.Memory == nil:
		return s
	case f.PSS:
		s.MemoryKind = swarm.MemoryPSS
	default:
		s.MemoryKind = swarm.MemoryRSS
	}
	if f.Peak != nil {
		s.Peak = new(max(*f.Peak, *f.Memory))
	}
	return s
}

// isForeign reports whether a process below a worker's shim, with everything below it, does
// not belong to the worker. The shim decides by the same rule.
func isForeign(p proc.Process, st rundir.Status) (bool, error) {
	if p.Identity == st.Main {
		return false, nil
	}
	marks, err := rundir.MarksOf(p.PID)
	return err == nil && marks.IsStranger(p, st.ID), err
}
