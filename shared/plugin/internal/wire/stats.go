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

// FromStats converts back. A number that can't be one, such as a negative size, is left
// out: it is not known.
func FromStats(s *pb.WorkerStats) swarm.Stats {
	out := swarm.Stats{
		Time:       fromMoment(s.GetTime()),
		Memory:     size(s.GetMemory(), s != nil && s.Memory != nil),
		MemoryKind: swarm.MemoryKind(Line(s.GetMemoryKind())),
		Processes:  fromNumber(s.GetProcesses(), s != nil && s.Processes != nil),
		Threads:    fromNumber(s.GetThreads(), s != nil && s.Threads != nil),
	}
	if u := fromUsage(s.GetUsage()); u != nil {
		out.Usage = *u
	}
	if share := s.GetCpuShare(); s != nil && s.CpuShare != nil && share >= 0 && !math.IsInf(share, 1) {
		out.CPUShare = &share
	}
	return out
}

// usage is nil for none.
func usage(u *swarm.Usage) *pb.Usage {
	if u == nil {
		return nil
	}
	out := &pb.Usage{Peak: u.Peak, Read: u.Read, Written: u.Written}
	if u.CPUTime != nil {
		out.CpuTime = durationpb.New(*u.CPUTime)
	}
	return out
}

func fromUsage(u *pb.Usage) *swarm.Usage {
	if u == nil {
		return nil
	}
	out := &swarm.Usage{
		Peak:    size(u.GetPeak(), u.Peak != nil),
		Read:    size(u.GetRead(), u.Read != nil),
		Written: size(u.GetWritten(), u.Written != nil),
	}
	if d := u.GetCpuTime().AsDuration(); u.GetCpuTime() != nil && d >= 0 {
		out.CPUTime = &d
	}
	return out
}

// size is nil for a number that is not there or can't be a size.
func size(n int64, there bool) *int64 {
	if !there || n < 0 {
		return nil
	}
	return &n
}

func number(n *int) *int64 {
	if n == nil {
		return nil
	}
	return new(int64(*n))
}

func fromNumber(n int64, there bool) *int {
	if !there || n < 0 {
		return nil
	}
	return new(int(n))
}
