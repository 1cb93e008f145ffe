package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// WorkerStatus converts a status.
func WorkerStatus(s swarm.Status) *pb.WorkerStatus {
	return &pb.WorkerStatus{
		State:     states[s.State],
		Pid:       int64(s.PID),
		Started:   moment(s.Started),
		Exit:      given(s.Exit, exit),
		Where:     where(s.Where),
		Reason:    text(s.Reason),
		Survivors: Convert(s.Survivors, process),

		Restarts:     int64(s.Restarts),
		LastRestarts: Convert(newest(s.LastRestarts), restarted),
		Completion:   given(s.Completion, completion),
		Paused:       s.Paused,
		Unenforced:   text(s.Unenforced),
		PerhapsAlive: Convert(s.PerhapsAlive, process),
	}
}

// FromWorkerStatus converts back. An end without an exit becomes the state unknown: an exit
// is never guessed.
func FromWorkerStatus(s *pb.WorkerStatus) swarm.Status {
	state, _ := keyOf(states, s.GetState())
	out := swarm.Status{
		State:     state,
		PID:       int(s.GetPid()),
		Started:   fromMoment(s.GetStarted()),
		Where:     fromWhere(s.GetWhere()),
		Reason:    Line(s.GetReason()),
		Survivors: Convert(some(s.GetSurvivors(), maxItems), fromProcess),

		Restarts:     int(s.GetRestarts()),
		LastRestarts: Convert(newest(s.GetLastRestarts()), fromRestarted),
		Completion:   given(s.GetCompletion(), fromCompletion),
		Paused:       s.GetPaused(),
		Unenforced:   Line(s.GetUnenforced()),
		PerhapsAlive: Convert(some(s.GetPerhapsAlive(), maxItems), fromProcess),
	}
	switch {
	case out.State != swarm.StateExited:
	case s.GetExit() == nil:
		out.State = swarm.StateUnknown
		out.Reason = "the plugin reported an end without an exit"
	default:
		out.Exit = fromExit(s.GetExit())
	}
	return out
}

// states has no row for the unknown state, which is the zero value on both sides.
var states = map[swarm.State]pb.State{
	swarm.StateRunning: pb.State_STATE_RUNNING,
	swarm.StateExited:  pb.State_STATE_EXITED,
	swarm.StateLost:    pb.State_STATE_LOST,
	swarm.StatePending: pb.State_STATE_PENDING,
}

func exit(e *swarm.Exit) *pb.Exit {
	return &pb.Exit{
		Code:   int64(e.Code),
		Signal: text(e.Signal),
		Cause:  text(string(e.Cause)),
		Reason: text(e.Reason),
		Time:   moment(e.Time),
		Usage:  given(e.Usage, usage),
	}
}

func fromExit(e *pb.Exit) *swarm.Exit {
	return &swarm.Exit{
		Code:   int(e.GetCode()),
		Signal: Line(e.GetSignal()),
		Cause:  swarm.Cause(Line(e.GetCause())),
		Reason: Line(e.GetReason()),
		Time:   fromMoment(e.GetTime()),
		Usage:  given(e.GetUsage(), fromUsage),
	}
}

func where(w swarm.Where) *pb.Where {
	if w.Kind == "" && w.Name == "" && w.ID == "" && len(w.Parts) == 0 {
		return nil
	}
	return &pb.Where{Kind: text(w.Kind), Name: text(w.Name), Parts: textMap(w.Parts), Id: text(w.ID)}
}

func fromWhere(w *pb.Where) swarm.Where {
	return swarm.Where{Kind: Line(w.GetKind()), Name: Line(w.GetName()), Parts: fromParts(w.GetParts()), ID: Line(w.GetId())}
}

// fromParts drops all parts if there are absurdly many.
func fromParts(parts map[string]string) map[string]string {
	if len(parts) > maxNames {
		return nil
	}
	out := textMap(parts)
	for k, v := range out {
		out[k] = Line(v)
	}
	return out
}

// StatusResult converts the answer for one worker.
func StatusResult(r swarm.StatusResult) *pb.StatusResult {
	if r.Err != nil {
		return &pb.StatusResult{Error: Error(r.Err)}
	}
	return &pb.StatusResult{Status: WorkerStatus(r.Status)}
}

// FromStatusResult converts back.
func FromStatusResult(r *pb.StatusResult) swarm.StatusResult {
	if r.GetError() != nil {
		return swarm.StatusResult{Err: FromError(r.GetError())}
	}
	return swarm.StatusResult{Status: FromWorkerStatus(r.GetStatus())}
}

// KillResult converts the result of a kill.
func KillResult(r swarm.KillResult) *pb.KillResult {
	return &pb.KillResult{
		Status:       WorkerStatus(r.Status),
		AlreadyEnded: r.AlreadyEnded,
		Signal:       text(r.Signal),
		Forced:       r.Forced,
		Survivors:    Convert(r.Survivors, process),
	}
}

// FromKillResult converts back.
func FromKillResult(r *pb.KillResult) swarm.KillResult {
	return swarm.KillResult{
		Status:       FromWorkerStatus(r.GetStatus()),
		AlreadyEnded: r.GetAlreadyEnded(),
		Signal:       Line(r.GetSignal()),
		Forced:       r.GetForced(),
		Survivors:    Convert(some(r.GetSurvivors(), maxItems), fromProcess),
	}
}

// Listed converts a worker of an engine, without the private fields of its spec.
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

// public returns the fields of a spec that every host may read.
func public(s swarm.Spec) swarm.Spec {
	s.Env, s.Owner, s.Local = nil, nil, nil
	return s
}
