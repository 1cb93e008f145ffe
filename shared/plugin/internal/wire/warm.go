package wire

import (
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Warm makes the tables by which the messages of the first calls of nearly every host
// are encoded and decoded: Describe, and Status of a worker that runs. The first use of
// a message makes them anyway, but that one a caller waits for. Later calls do nothing.
var Warm = sync.OnceFunc(func() {
	running := swarm.StatusResult{Status: swarm.Status{State: swarm.StateRunning, Started: time.Unix(1, 0)}}
	for _, m := range []proto.Message{
		&pb.DescribeRequest{ContractVersion: swarm.ContractVersion},
		&pb.DescribeResponse{Name: "warm", Capabilities: Capabilities([]swarm.Capability{swarm.CapWait})},
		&pb.StatusRequest{Handles: Handles([]swarm.Handle{{Version: 1, Data: []byte("warm")}})},
		&pb.StatusResponse{Results: []*pb.StatusResult{StatusResult(running)}},
	} {
		encoded, _ := proto.Marshal(m)
		_ = proto.Unmarshal(encoded, m) // nothing comes of either
	}
})
