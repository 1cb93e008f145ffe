package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Limits converts limits; nil for none.
func Limits(l swarm.Limits) *pb.Limits {
	if l == (swarm.Limits{}) {
		return nil
	}
	return &pb.Limits{
		Memory:     l.Memory,
		Cpus:       l.CPUs,
		Pids:       int64(l.PIDs),
		Nice:       int64(l.Nice),
		IoWeight:   int64(l.IOWeight),
		BestEffort: l.BestEffort,
	}
}

// FromLimits converts back. Numbers out of their bounds stay, for [swarm.Limits.Check].
func FromLimits(l *pb.Limits) swarm.Limits {
	return swarm.Limits{
		Memory:     l.GetMemory(),
		CPUs:       l.GetCpus(),
		PIDs:       int(l.GetPids()),
		Nice:       int(l.GetNice()),
		IOWeight:   int(l.GetIoWeight()),
		BestEffort: l.GetBestEffort(),
	}
}
