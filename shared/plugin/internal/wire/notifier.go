package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Event converts an event for a notifier.
func Event(e swarm.Event) *pb.NotifyRequest {
	return &pb.NotifyRequest{
		Id: text(e.ID), Time: moment(e.Time), Kind: text(e.Kind),
		Worker: text(e.Worker), WorkerId: text(e.WorkerID), Tags: texts(e.Tags),
		Text: text(e.Text), Final: e.Final, Exit: given(e.Exit, exit),
		On:      texts(e.On),
		Attempt: uint32(max(0, e.Attempt)), //nolint:gosec // it counts attempts
	}
}

// FromEvent converts back.
func FromEvent(r *pb.NotifyRequest) swarm.Event {
	return swarm.Event{
		ID: r.GetId(), Time: fromMoment(r.GetTime()), Kind: r.GetKind(),
		Worker: r.GetWorker(), WorkerID: r.GetWorkerId(), Tags: r.GetTags(),
		Text: r.GetText(), Final: r.GetFinal(), Exit: given(r.GetExit(), fromExit),
		On:      r.GetOn(),
		Attempt: int(r.GetAttempt()),
	}
}

var outcomes = map[swarm.NotifyOutcome]pb.NotifyOutcome{
	swarm.NotifyAccepted: pb.NotifyOutcome_NOTIFY_OUTCOME_ACCEPTED,
	swarm.NotifyLater:    pb.NotifyOutcome_NOTIFY_OUTCOME_LATER,
	swarm.NotifyNever:    pb.NotifyOutcome_NOTIFY_OUTCOME_NEVER,
}

// NotifyAnswer converts the answer of a notifier.
func NotifyAnswer(a swarm.NotifyAnswer) *pb.NotifyResponse {
	return &pb.NotifyResponse{Outcome: outcomes[a.Outcome], Again: moment(a.Again), Reason: text(a.Reason)}
}

// FromNotifyAnswer converts back. An outcome that is not known is later: no event is lost.
func FromNotifyAnswer(r *pb.NotifyResponse) swarm.NotifyAnswer {
	a := swarm.NotifyAnswer{Outcome: swarm.NotifyLater, Again: fromMoment(r.GetAgain()), Reason: Line(r.GetReason())}
	for known, sent := range outcomes {
		if sent == r.GetOutcome() {
			a.Outcome = known
		}
	}
	return a
}
