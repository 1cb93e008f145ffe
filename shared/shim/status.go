package shim

import (
	"errors"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Status tells how the worker is, see [swarm.Backend]. It changes nothing. A
// worker that is lost has its reason, and the processes that outlived its shim.
func Status(dir, id string) (swarm.Status, error) { return new(Look).Status(dir, id) }

// Look is one look at this machine, for asking after many workers: what all of
// them need is read once, when the first one needs it. The zero value is ready.
// It is for one goroutine, and to be dropped soon, for it does not change.
type Look struct {
	// Most looks need no census: only lost workers do.
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
	if st.State == rundir.StateEnded {
		return endedOf(st), nil
	}
	if shimAlive(dir, st) {
		return runningOf(st), nil
	}
	// A shim that left between the two looks wrote how its worker ended before.
	if again, err := readFacts(dir, id); err == nil {
		st = again
	}
	if st.State == rundir.StateEnded {
		return endedOf(st), nil
	}
	return l.lost(st, id), nil
}

// lost is the status of a worker whose shim is gone and left no end behind. st is
// zero if it left nothing at all.
func (l *Look) lost(st rundir.Status, id string) swarm.Status {
	s := withHistory(swarm.Status{State: swarm.StateLost, Started: timeOf(st.StartedNS)}, st)
	switch {
	case st.Shim.PID == 0:
		s.Reason = "its run directory holds no status, exit unknown"
	case bootedSince(st):
		s.Reason = "machine restarted, exit unknown"
		return s
	default:
		s.Reason = "shim died, exit unknown"
	}
	if l.census == nil {
		l.census = takeCensus()
	}
	for _, p := range l.census.orphans(st, id) {
		if p.Identity == st.Main {
			s.PID = p.PID
		}
		s.Survivors = append(s.Survivors, named(p))
	}
	return s
}

func bootedSince(st rundir.Status) bool {
	boot, err := proc.BootID()
	return err == nil && st.Shim.Boot != "" && st.Shim.Boot != boot
}

func named(p proc.Process) swarm.Process { return swarm.Process{PID: p.PID, Name: p.Name} }
