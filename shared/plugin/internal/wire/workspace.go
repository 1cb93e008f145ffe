package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// WorkspaceSpec converts a spec of a workspace.
func WorkspaceSpec(s swarm.WorkspaceSpec) *pb.WorkspaceSpec {
	return &pb.WorkspaceSpec{
		Id:      text(s.ID),
		Name:    text(s.Name),
		Base:    []byte(s.Base),
		Branch:  []byte(s.Branch),
		Parent:  []byte(s.Parent),
		Options: textMap(s.Options),
	}
}

// FromWorkspaceSpec converts back.
func FromWorkspaceSpec(s *pb.WorkspaceSpec) swarm.WorkspaceSpec {
	return swarm.WorkspaceSpec{
		ID:      s.GetId(),
		Name:    s.GetName(),
		Base:    string(s.GetBase()),
		Branch:  string(s.GetBranch()),
		Parent:  string(s.GetParent()),
		Options: textMap(s.GetOptions()),
	}
}

// WorkspaceCheck converts a check of a workspace.
func WorkspaceCheck(c swarm.WorkspaceCheck) *pb.CheckCreateRequest {
	req := &pb.CheckCreateRequest{Spec: WorkspaceSpec(c.Spec)}
	if c.Removed != nil {
		req.Removed = WorkspaceRef(*c.Removed)
	}
	return req
}

// FromWorkspaceCheck converts back.
func FromWorkspaceCheck(c *pb.CheckCreateRequest) swarm.WorkspaceCheck {
	check := swarm.WorkspaceCheck{Spec: FromWorkspaceSpec(c.GetSpec())}
	if c.GetRemoved() != nil {
		check.Removed = new(FromWorkspaceRef(c.GetRemoved()))
	}
	return check
}

// WorkspaceRef converts a reference to a workspace.
func WorkspaceRef(r swarm.WorkspaceRef) *pb.WorkspaceRef {
	return &pb.WorkspaceRef{
		Id:      text(r.ID),
		Name:    text(r.Name),
		Path:    []byte(r.Path),
		Branch:  []byte(r.Branch),
		Base:    []byte(r.Base),
		Dir:     []byte(r.Dir),
		Host:    text(r.Host),
		Data:    r.Handle.Data,
		Version: r.Handle.Version,
	}
}

// FromWorkspaceRef converts back.
func FromWorkspaceRef(r *pb.WorkspaceRef) swarm.WorkspaceRef {
	return swarm.WorkspaceRef{
		ID:     r.GetId(),
		Name:   r.GetName(),
		Path:   string(r.GetPath()),
		Branch: string(r.GetBranch()),
		Base:   string(r.GetBase()),
		Dir:    string(r.GetDir()),
		Host:   r.GetHost(),
		Handle: swarm.Handle{Version: r.GetVersion(), Data: r.GetData()},
	}
}

// RemoveOptions converts the options of a removal.
func RemoveOptions(o swarm.RemoveOptions) *pb.RemoveOptions {
	return &pb.RemoveOptions{Force: o.Force, Vacant: o.Vacant, Undo: o.Undo}
}

// FromRemoveOptions converts back.
func FromRemoveOptions(o *pb.RemoveOptions) swarm.RemoveOptions {
	return swarm.RemoveOptions{Force: o.GetForce(), Vacant: o.GetVacant(), Undo: o.GetUndo()}
}

// WorkspaceState converts the state of a workspace.
func WorkspaceState(s swarm.WorkspaceState) *pb.InspectResponse {
	return &pb.InspectResponse{Missing: s.Missing, Kept: given(s.Kept, kept)}
}

// FromWorkspaceState converts back.
func FromWorkspaceState(s *pb.InspectResponse) swarm.WorkspaceState {
	return swarm.WorkspaceState{Missing: s.GetMissing(), Kept: given(s.GetKept(), fromKept)}
}

// RemoveResult converts the result of a removal.
func RemoveResult(r swarm.RemoveResult) *pb.RemoveResponse {
	return &pb.RemoveResponse{Kept: given(r.Kept, kept), Rescues: Convert(r.Rescues, rescue), Astray: r.Astray}
}

// FromRemoveResult converts back.
func FromRemoveResult(r *pb.RemoveResponse) swarm.RemoveResult {
	return swarm.RemoveResult{Kept: given(r.GetKept(), fromKept), Rescues: Convert(r.GetRescues(), fromRescue), Astray: r.GetAstray()}
}

func kept(k *swarm.Kept) *pb.Kept {
	return &pb.Kept{Reason: text(k.Reason), Forceable: k.Forceable}
}

func fromKept(k *pb.Kept) *swarm.Kept {
	return &swarm.Kept{Reason: k.GetReason(), Forceable: k.GetForceable()}
}

func rescue(r swarm.Rescue) *pb.Rescue {
	return &pb.Rescue{Ref: []byte(r.Ref), Command: []byte(r.Command)}
}

func fromRescue(r *pb.Rescue) swarm.Rescue {
	return swarm.Rescue{Ref: string(r.GetRef()), Command: string(r.GetCommand())}
}

// RescueRequest converts a request about saved work.
func RescueRequest(r swarm.RescueRequest) *pb.RescueRequest {
	return &pb.RescueRequest{Base: []byte(r.Base), Ref: []byte(r.Ref), Action: text(string(r.Action)), Into: []byte(r.Into), Host: text(r.Host)}
}

// FromRescueRequest converts back.
func FromRescueRequest(r *pb.RescueRequest) swarm.RescueRequest {
	return swarm.RescueRequest{
		Base: string(r.GetBase()), Ref: string(r.GetRef()), Action: swarm.RescueAction(r.GetAction()), Into: string(r.GetInto()), Host: r.GetHost(),
	}
}

// SavedWork converts one piece of saved work.
func SavedWork(w swarm.SavedWork) *pb.SavedWork {
	return &pb.SavedWork{
		Ref: []byte(w.Ref), Name: text(w.Name), Base: []byte(w.Base), Time: moment(w.Time), Title: text(w.Title),
		Files: Convert(w.Files, fileChange), Path: []byte(w.Path), Note: text(w.Note), Host: text(w.Host),
	}
}

// FromSavedWork converts back.
func FromSavedWork(w *pb.SavedWork) swarm.SavedWork {
	return swarm.SavedWork{
		Ref: string(w.GetRef()), Name: w.GetName(), Base: string(w.GetBase()), Time: fromMoment(w.GetTime()), Title: w.GetTitle(),
		Files: Convert(w.GetFiles(), fromFileChange), Path: string(w.GetPath()), Note: w.GetNote(), Host: w.GetHost(),
	}
}

func fileChange(c swarm.FileChange) *pb.FileChange {
	return &pb.FileChange{Path: []byte(c.Path), Added: int64(c.Added), Removed: int64(c.Removed)}
}

func fromFileChange(c *pb.FileChange) swarm.FileChange {
	return swarm.FileChange{Path: string(c.GetPath()), Added: int(c.GetAdded()), Removed: int(c.GetRemoved())}
}

// Diff converts the changes in a workspace.
func Diff(d swarm.Diff) *pb.DiffResponse {
	return &pb.DiffResponse{
		Files: Convert(d.Files, fileChange), Command: byteses(d.Command), Env: byteses(d.Env), Unset: byteses(d.Unset),
		Ahead: number(d.Ahead), Behind: number(d.Behind),
	}
}

// DiffRequest converts a request for the changes in a workspace.
func DiffRequest(ref swarm.WorkspaceRef, o swarm.DiffOptions) *pb.DiffRequest {
	return &pb.DiffRequest{Ref: WorkspaceRef(ref), Summary: o.Summary, Color: string(o.Colour)}
}

// FromDiffRequest converts the options back.
func FromDiffRequest(d *pb.DiffRequest) swarm.DiffOptions {
	return swarm.DiffOptions{Summary: d.GetSummary(), Colour: swarm.Colour(d.GetColor())}
}

// FromDiff converts back.
func FromDiff(d *pb.DiffResponse) swarm.Diff {
	return swarm.Diff{
		Files: Convert(d.GetFiles(), fromFileChange), Command: strs(d.GetCommand()),
		Env: strs(d.GetEnv()), Unset: strs(d.GetUnset()),
		Ahead:  fromNumber[int](d.GetAhead(), d.Ahead != nil),
		Behind: fromNumber[int](d.GetBehind(), d.Behind != nil),
	}
}
