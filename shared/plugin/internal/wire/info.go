package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Capabilities converts the names of capabilities.
func Capabilities(cs []swarm.Capability) []string {
	return convert(cs, func(c swarm.Capability) string { return string(c) })
}

// FromCapabilities converts back.
func FromCapabilities(names []string) []swarm.Capability {
	return convert(some(names, maxNames), func(n string) swarm.Capability { return swarm.Capability(Line(n)) })
}

// KillItem converts one worker to end.
func KillItem(h swarm.Handle, o swarm.KillOptions) *pb.KillItem {
	return &pb.KillItem{Handle: Handle(h), Options: KillOptions(o)}
}

// SweepResponse converts the warnings of a sweep.
func SweepResponse(warnings []string) *pb.SweepResponse {
	return &pb.SweepResponse{Warnings: texts(warnings)}
}

// FromSweepResponse converts back.
func FromSweepResponse(r *pb.SweepResponse) []string {
	return convert(some(r.GetWarnings(), maxItems), Line)
}
