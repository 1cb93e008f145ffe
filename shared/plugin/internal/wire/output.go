package wire

import (
	"bytes"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// OutputRequest converts a request for output.
func OutputRequest(h swarm.Handle, o swarm.OutputOptions) *pb.OutputRequest {
	return &pb.OutputRequest{
		Handle: Handle(h),
		Since:  moment(o.Since),
		Stream: text(string(o.Stream)),
		Follow: o.Follow,
		Tail:   number(o.Tail),
	}
}

// FromOutputRequest converts back.
func FromOutputRequest(r *pb.OutputRequest) (swarm.Handle, swarm.OutputOptions) {
	return FromHandle(r.GetHandle()), swarm.OutputOptions{
		Since:  fromMoment(r.GetSince()),
		Stream: swarm.Stream(r.GetStream()),
		Follow: r.GetFollow(),
		Tail:   fromNumber[int](r.GetTail(), r.Tail != nil),
	}
}

// Output converts a piece of output. It copies the data: the piece is sent later, and the
// backend may reuse its buffer.
func Output(o swarm.Output) *pb.OutputPiece {
	return &pb.OutputPiece{
		Time:    moment(o.Time),
		Stream:  text(string(o.Stream)),
		Data:    bytes.Clone(o.Data),
		Partial: o.Partial,
		Dropped: o.Dropped,
	}
}

// FromOutput converts back.
func FromOutput(o *pb.OutputPiece) swarm.Output {
	return swarm.Output{
		Time:    fromMoment(o.GetTime()),
		Stream:  swarm.Stream(o.GetStream()),
		Data:    o.GetData(),
		Partial: o.GetPartial(),
		Dropped: o.GetDropped(),
	}
}
