package rpc

import (
	"context"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

type workspaceServer struct {
	pb.UnimplementedWorkspaceServer
	s *Server
}

func (w workspaceServer) Create(ctx context.Context, req *pb.CreateRequest) (*pb.CreateResponse, error) {
	return call(ctx, w.s, "Create", func(ctx context.Context, ws swarm.Workspace) (*pb.CreateResponse, error) {
		ctx, warned := collect(ctx)
		ref, err := ws.Create(ctx, wire.FromWorkspaceSpec(req.GetSpec()))
		return &pb.CreateResponse{Ref: wire.WorkspaceRef(ref), Warnings: wire.Texts(warned.take())}, checkRef(ref, err)
	})
}

func (w workspaceServer) CheckCreate(ctx context.Context, req *pb.CheckCreateRequest) (*pb.CheckCreateResponse, error) {
	return call(ctx, w.s, "CheckCreate", func(ctx context.Context, c swarm.WorkspaceChecker) (*pb.CheckCreateResponse, error) {
		return &pb.CheckCreateResponse{}, c.CheckCreate(ctx, wire.FromWorkspaceCheck(req))
	})
}

func (w workspaceServer) Inspect(ctx context.Context, req *pb.InspectRequest) (*pb.InspectResponse, error) {
	return call(ctx, w.s, "Inspect", func(ctx context.Context, ws swarm.Workspace) (*pb.InspectResponse, error) {
		st, err := ws.Inspect(ctx, wire.FromWorkspaceRef(req.GetRef()), wire.FromRemoveOptions(req.GetOptions()))
		return wire.WorkspaceState(st), err
	})
}

func (w workspaceServer) Remove(ctx context.Context, req *pb.RemoveRequest) (*pb.RemoveResponse, error) {
	return call(ctx, w.s, "Remove", func(ctx context.Context, ws swarm.Workspace) (*pb.RemoveResponse, error) {
		ctx, warned := collect(ctx)
		r, err := ws.Remove(ctx, wire.FromWorkspaceRef(req.GetRef()), wire.FromRemoveOptions(req.GetOptions()))
		resp := wire.RemoveResult(r)
		resp.Warnings = wire.Texts(warned.take())
		return resp, err
	})
}

func (w workspaceServer) FindWorkspace(ctx context.Context, req *pb.FindWorkspaceRequest) (*pb.FindWorkspaceResponse, error) {
	return call(ctx, w.s, "FindWorkspace", func(ctx context.Context, f swarm.WorkspaceFinder) (*pb.FindWorkspaceResponse, error) {
		ref, err := f.FindWorkspace(ctx, wire.FromWorkspaceSpec(req.GetSpec()))
		return &pb.FindWorkspaceResponse{Ref: wire.WorkspaceRef(ref)}, checkRef(ref, err)
	})
}

func (w workspaceServer) Rescue(ctx context.Context, req *pb.RescueRequest) (*pb.RescueResponse, error) {
	return call(ctx, w.s, "Rescue", func(ctx context.Context, r swarm.Rescuer) (*pb.RescueResponse, error) {
		works, err := r.Rescue(ctx, wire.FromRescueRequest(req))
		return &pb.RescueResponse{Works: wire.Convert(works, wire.SavedWork)}, err
	})
}

func (w workspaceServer) Diff(ctx context.Context, req *pb.DiffRequest) (*pb.DiffResponse, error) {
	return call(ctx, w.s, "Diff", func(ctx context.Context, d swarm.Differ) (*pb.DiffResponse, error) {
		diff, err := d.Diff(ctx, wire.FromWorkspaceRef(req.GetRef()), wire.FromDiffRequest(req))
		return wire.Diff(diff), err
	})
}
