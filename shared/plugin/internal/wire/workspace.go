package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// WorkspaceSpec converts what to make.
func WorkspaceSpec(s swarm.WorkspaceSpec) *pb.WorkspaceSpec {
	return &pb.WorkspaceSpec{
		Id:     text(s.ID),
		Name:   text(s.Name),
		Base:   []byte(s.Base),
		Branch: []byte(s.Branch),
		Parent: []byte(s.Parent),
	}
}

// FromWorkspaceSpec converts back.
func FromWorkspaceSpec(s *pb.WorkspaceSpec) swarm.WorkspaceSpec {
	return swarm.WorkspaceSpec{
		ID:     s.GetId(),
		Name:   s.GetName(),
		Base:   string(s.GetBase()),
		Branch: string(s.GetBranch()),
		Parent: string(s.GetParent()),
	}
}

// WorkspaceRef converts what identifies a workspace.
func WorkspaceRef(r swarm.WorkspaceRef) *pb.WorkspaceRef {
	return &pb.WorkspaceRef{
		Id:     text(r.ID),
		Name:   text(r.Name),
		Path:   []byte(r.Path),
		Branch: []byte(r.Branch),
		Base:   []byte(r.Base),
		Dir:    []byte(r.Dir),
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
	}
}

// RemoveOptions converts how to remove.
func RemoveOptions(o swarm.RemoveOptions) *pb.RemoveOptions {
	return &pb.RemoveOptions{Force: o.Force, Vacant: o.Vacant, Undo: o.Undo}
}

// FromRemoveOptions converts back.
func FromRemoveOptions(o *pb.RemoveOptions) swarm.RemoveOptions {
	return swarm.RemoveOptions{Force: o.GetForce(), Vacant: o.GetVacant(), Undo: o.GetUndo()}
}

// WorkspaceState converts how a workspace is.
func WorkspaceState(s swarm.WorkspaceState) *pb.InspectResponse {
	return &pb.InspectResponse{Missing: s.Missing, Kept: kept(s.Kept)}
}

// FromWorkspaceState converts back.
func FromWorkspaceState(s *pb.InspectResponse) swarm.WorkspaceState {
	return swarm.WorkspaceState{Missing: s.GetMissing(), Kept: fromKept(s.GetKept())}
}

// RemoveResult converts the result of a removal.
func RemoveResult(r swarm.RemoveResult) *pb.RemoveResponse {
	return &pb.RemoveResponse{Kept: kept(r.Kept), Rescues: convert(r.Rescues, rescue)}
}

// FromRemoveResult converts back.
func FromRemoveResult(r *pb.RemoveResponse) swarm.RemoveResult {
	return swarm.RemoveResult{Kept: fromKept(r.GetKept()), Rescues: convert(r.GetRescues(), fromRescue)}
}

func kept(k *swarm.Kept) *pb.Kept {
	if k == nil {
		return nil
	}
	return &pb.Kept{Reason: text(k.Reason), Forceable: k.Forceable}
}

func fromKept(k *pb.Kept) *swarm.Kept {
	if k == nil {
		return nil
	}
	return &swarm.Kept{Reason: k.GetReason(), Forceable: k.GetForceable()}
}

func rescue(r swarm.Rescue) *pb.Rescue {
	return &pb.Rescue{Ref: []byte(r.Ref), Command: []byte(r.Command)}
}

func fromRescue(r *pb.Rescue) swarm.Rescue {
	return swarm.Rescue{Ref: string(r.GetRef()), Command: string(r.GetCommand())}
}
