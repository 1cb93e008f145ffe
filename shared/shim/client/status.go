package client

import (
	"errors"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Status returns the status of the worker, see [swarm.Backend]. It changes nothing. The
// status of a lost worker holds the reason, and the processes that outlived its shim.
func Status(dir, id string) (swarm.Status, error) { return new(Look).Status(dir, id) }

// Look is a view of this machine at one moment, for the status of many workers: shared
// facts are read once, when the first worker needs them. The zero value is ready for use.
// It is for one goroutine and a short time, since it is never refreshed.
type Look struct {
	// Only lost workers need a census.
	census *census
}

// Status is as [Status].
func (l *Look) Status(dir, id string) (swarm.Status, error) {
	st, err := readFacts(dir, id)
	if errors.Is(err, errNoFacts) {
		return l.lost(rundir.Status{}, id), nil
	}
	if err != nil {
		return swarm.Status{}, err
	}
	if st.State == rundir.StateEnded || IsKept(dir, st) {
		return statusOf(st), nil
	}
	// A shim that left between the two checks has recorded the end of its worker before.
	if again, err := readFacts(dir, id); err == nil {
		st = again
	}
	if st.State == rundir.StateEnded {
		return statusOf(st), nil
	}
	return l.lost(st, id), nil
}

// lost returns the status of a worker whose shim is gone without a recorded end. st is zero
// if the shim left no status at all.
func (l *Look) lost(st rundir.Status, id string) swarm.Status {
	s := historyOf(st)
	s.State = swarm.StateLost
	switch {
	case bootedSince(st):
		s.Reason = "machine restarted, exit unknown"
		return s
	case st.Shim.PID == 0:
		s.Reason = "its run directory holds no status, exit unknown"
	default:
		s.Reason = "shim died, exit unknown"
	}
	if l.census == nil {
		l.census = takeCensus()
	}
	proven := l.census.orphans(st, id)
	for _, p := range proven {
		if p.Identity == st.Main {
			s.PID = p.PID
		}
		s.Survivors = append(s.Survivors, named(p))
	}
	for _, p := range l.census.traced(st, proven) {
		if p.Identity == st.Main {
			s.PID = p.PID
		}
		s.PerhapsAlive = append(s.PerhapsAlive, named(p))
	}
	return s
}

func bootedSince(st rundir.Status) bool {
	boot, err := proc.BootID()
	return err == nil && st.Shim.Boot != "" && st.Shim.Boot != boot
}

func named(p proc.Process) swarm.Process {
	return swarm.Process{PID: p.PID, Name: p.Name, Started: p.Time()}
}
