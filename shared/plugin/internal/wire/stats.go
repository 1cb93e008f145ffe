package wire

import (
	"math"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// StatsResult converts the answer for one worker.
func StatsResult(r swarm.StatsResult) *pb.StatsResult {
	if r.Err != nil {
		return &pb.StatsResult{Error: Error(r.Err)}
	}
	return &pb.StatsResult{Stats: Stats(r.Stats)}
}

// FromStatsResult converts back.
func FromStatsResult(r *pb.StatsResult) swarm.StatsResult {
	if r.GetError() != nil {
		return swarm.StatsResult{Err: FromError(r.GetError())}
	}
	return swarm.StatsResult{Stats: FromStats(r.GetStats())}
}

// Stats converts the figures of a worker.
func Stats(s swarm.Stats) *pb.WorkerStats {
	return &pb.WorkerStats{
		Time:       moment(s.Time),
		Usage:      usage(&s.Usage),
		CpuShare:   s.CPUShare,
		Memory:     s.Memory,
		MemoryKind: text(string(s.MemoryKind)),
		Processes:  number(s.Processes),
		Threads:    number(s.Threads),
	}
}

// FromStats converts back. An impossible number, such as a negative size, becomes unknown.
func FromStats(s *pb.WorkerStats) swarm.Stats {
	if s == nil {
		return swarm.Stats{}
	}
	out := swarm.Stats{
		Time:       fromMoment(s.GetTime()),
		Memory:     counted[int64](s.GetMemory(), s.Memory != nil),
		MemoryKind: swarm.MemoryKind(Line(s.GetMemoryKind())),
		Processes:  counted[int](s.GetProcesses(), s.Processes != nil),
		Threads:    counted[int](s.GetThreads(), s.Threads != nil),
	}
	if u := given(s.GetUsage(), fromUsage); u != nil {
		out.Usage = *u
	}
	if share := s.GetCpuShare(); s.CpuShare != nil && share >= 0 && !math.IsInf(share, 1) {
		out.CPUShare = &share
	}
	return out
}

func usage(u *swarm.Usage) *pb.Usage {
	out := &pb.Usage{Peak: u.Peak, Read: u.Read, Written: u.Written}
	if u.CPUTime != nil {
		out.CpuTime = durationpb.New(*u.CPUTime)
	}
	return out
}

func fromUsage(u *pb.Usage) *swarm.Usage {
	out := &swarm.Usage{
		Peak:    counted[int64](u.GetPeak(), u.Peak != nil),
		Read:    counted[int64](u.GetRead(), u.Read != nil),
		Written: counted[int64](u.GetWritten(), u.Written != nil),
	}
	if d := u.GetCpuTime().AsDuration(); u.GetCpuTime() != nil && d >= 0 {
		out.CPUTime = &d
	}
	return out
}
