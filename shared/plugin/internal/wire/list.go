package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Listed converts a worker of an engine, without what must not leave it.
func Listed(l swarm.Listed) *pb.ListResponse {
	return &pb.ListResponse{
		Spec:    Spec(public(l.Spec)),
		Handle:  Handle(l.Handle),
		Created: moment(l.Created),
		Status:  WorkerStatus(l.Status),
	}
}

// FromListed converts back.
func FromListed(l *pb.ListResponse) swarm.Listed {
	return swarm.Listed{
		Spec:    public(FromSpec(l.GetSpec())),
		Handle:  FromHandle(l.GetHandle()),
		Created: fromMoment(l.GetCreated()),
		Status:  FromWorkerStatus(l.GetStatus()),
	}
}

// public returns a spec that any host may read.
func public(s swarm.Spec) swarm.Spec {
	s.Env, s.Owner, s.Local = nil, nil, nil
	return s
}
