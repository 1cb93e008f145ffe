package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

func restart(r swarm.Restart) *pb.Restart {
	if r == (swarm.Restart{}) {
		return nil
	}
	return &pb.Restart{
		When:     text(string(r.When)),
		MinDelay: span(r.MinDelay),
		MaxDelay: span(r.MaxDelay),
		Budget:   int64(r.Budget),
		Window:   span(r.Window),
	}
}

func fromRestart(r *pb.Restart) swarm.Restart {
	return swarm.Restart{
		When:     fromWhen(r.GetWhen()),
		MinDelay: r.GetMinDelay().AsDuration(),
		MaxDelay: r.GetMaxDelay().AsDuration(),
		Budget:   int(r.GetBudget()),
		Window:   r.GetWindow().AsDuration(),
	}
}

// fromWhen returns RestartNo for an unknown value.
func fromWhen(s string) swarm.RestartWhen {
	switch when := swarm.RestartWhen(s); when {
	case swarm.RestartOnFailure, swarm.RestartAlways:
		return when
	default:
		return swarm.RestartNo
	}
}

func owner(o *swarm.Owner) *pb.Owner {
	return &pb.Owner{Pid: int64(o.PID), Start: o.Start, Boot: text(o.Boot)}
}

func fromOwner(o *pb.Owner) *swarm.Owner {
	return &swarm.Owner{PID: int(o.GetPid()), Start: o.GetStart(), Boot: o.GetBoot()}
}

// newest returns as many restarts as a status may hold.
func newest[T any](restarts []T) []T {
	return restarts[max(0, len(restarts)-swarm.MaxRestarts):]
}

func restarted(r swarm.Restarted) *pb.Restarted {
	return &pb.Restarted{Number: int64(r.Number), Time: moment(r.Time), Code: int64(r.Code), Signal: text(r.Signal)}
}

func fromRestarted(r *pb.Restarted) swarm.Restarted {
	return swarm.Restarted{
		Number: int(r.GetNumber()),
		Time:   fromMoment(r.GetTime()),
		Code:   int(r.GetCode()),
		Signal: Line(r.GetSignal()),
	}
}

func completion(c *swarm.Completion) *pb.Completion {
	return &pb.Completion{Summary: text(c.Summary), Time: moment(c.Time)}
}

func fromCompletion(c *pb.Completion) *swarm.Completion {
	// A summary is cut above its limit: the conformance kit has to notice one that is too
	// long.
	return &swarm.Completion{Summary: safetext.Cut(c.GetSummary(), 2*swarm.MaxSummary), Time: fromMoment(c.GetTime())}
}

// CompleteRequest converts the completion of a worker. A summary that is too long
// is cut.
func CompleteRequest(h swarm.Handle, summary string, o swarm.KillOptions) *pb.CompleteRequest {
	return &pb.CompleteRequest{Handle: Handle(h), Summary: safetext.Cut(text(summary), swarm.MaxSummary), Options: KillOptions(o)}
}

// FromCompleteRequest converts back.
func FromCompleteRequest(r *pb.CompleteRequest) (h swarm.Handle, summary string, o swarm.KillOptions) {
	return FromHandle(r.GetHandle()), safetext.Cut(r.GetSummary(), swarm.MaxSummary), FromKillOptions(r.GetOptions())
}
