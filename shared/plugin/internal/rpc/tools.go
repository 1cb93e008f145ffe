package rpc

import (
	"context"
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

type toolsServer struct {
	pb.UnimplementedToolsServer
	s *Server
}

func (t toolsServer) ListTools(ctx context.Context, _ *pb.ListToolsRequest) (*pb.ListToolsResponse, error) {
	return call(ctx, t.s, "ListTools", func(ctx context.Context, box swarm.Toolbox) (*pb.ListToolsResponse, error) {
		tools, err := box.ListTools(ctx)
		if err == nil {
			err = swarm.CheckTools(tools)
		}
		return &pb.ListToolsResponse{Tools: wire.Convert(tools, wire.Tool)}, err
	})
}

func (t toolsServer) CallTool(ctx context.Context, req *pb.CallToolRequest) (*pb.CallToolResponse, error) {
	return call(ctx, t.s, "CallTool", func(ctx context.Context, box swarm.Toolbox) (*pb.CallToolResponse, error) {
		if n := len(req.GetInput()); n > swarm.MaxToolInput {
			return nil, fmt.Errorf("%w: an input of %d bytes, at most %d", swarm.ErrInvalidSpec, n, swarm.MaxToolInput)
		}
		answer, err := box.CallTool(ctx, wire.FromToolCall(req))
		if n := len(answer); err == nil && n > swarm.MaxToolAnswer {
			err = fmt.Errorf("the answer of the tool '%s' has %d bytes, at most %d", req.GetName(), n, swarm.MaxToolAnswer)
		}
		return &pb.CallToolResponse{Answer: answer}, err
	})
}
