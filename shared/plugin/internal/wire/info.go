package wire

import (
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Capabilities converts the names of capabilities.
func Capabilities(cs []swarm.Capability) []string {
	return Convert(cs, func(c swarm.Capability) string { return string(c) })
}

// FromCapabilities converts back.
func FromCapabilities(names []string) []swarm.Capability {
	return Convert(some(names, maxNames), func(n string) swarm.Capability { return swarm.Capability(Line(n)) })
}

// SweepResponse converts the warnings of a sweep.
func SweepResponse(warnings []string) *pb.SweepResponse {
	return &pb.SweepResponse{Warnings: texts(warnings)}
}

// ProgressResponse converts a text about a Spawn.
func ProgressResponse(line string) *pb.ProgressResponse {
	return &pb.ProgressResponse{Text: text(line)}
}

// FromSweepResponse converts back.
func FromSweepResponse(r *pb.SweepResponse) []string {
	return Convert(some(r.GetWarnings(), maxItems), Line)
}

// Warm builds the tables for encoding and decoding the messages of the usual first calls of
// a host: Describe, and Status of a running worker. Otherwise the first use of a message
// builds them while a caller waits. Later calls of Warm do nothing.
var Warm = sync.OnceFunc(func() {
	running := swarm.StatusResult{Status: swarm.Status{State: swarm.StateRunning, Started: time.Unix(1, 0)}}
	for _, m := range []proto.Message{
		&pb.DescribeRequest{ContractVersion: swarm.ContractVersion},
		&pb.DescribeResponse{Name: "warm", Capabilities: Capabilities([]swarm.Capability{swarm.CapWatch})},
		&pb.StatusRequest{Handles: Handles([]swarm.Handle{{Version: 1, Data: []byte("warm")}})},
		&pb.StatusResponse{Results: []*pb.StatusResult{StatusResult(running)}},
	} {
		encoded, _ := proto.Marshal(m)
		_ = proto.Unmarshal(encoded, m) // only the tables matter
	}
})

// Contracts are the versions of the contract that one side speaks.
type Contracts struct{ Oldest, Newest uint32 }

// Spoken are the versions that this SDK speaks.
func Spoken() Contracts { return Contracts{swarm.OldestContractVersion, swarm.ContractVersion} }

// ContractsOf returns the versions of a peer; one that says nothing of older ones speaks none.
func ContractsOf(newest, oldest uint32) Contracts {
	if oldest == 0 || oldest > newest {
		oldest = newest
	}
	return Contracts{oldest, newest}
}

// Common returns the newest version that both sides speak; false: there is none.
func (c Contracts) Common(other Contracts) (version uint32, ok bool) {
	version = min(c.Newest, other.Newest)
	return version, version >= max(c.Oldest, other.Oldest, 1)
}
