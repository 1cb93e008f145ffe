package rpc

import (
	"context"
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

type pluginServer struct {
	pb.UnimplementedPluginServer
	s *Server
}

func (p pluginServer) Describe(ctx context.Context, req *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	ctx, leave, err := p.s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	about := p.s.plugin
	resp := &pb.DescribeResponse{
		Name:            about.Name,
		Version:         about.Version,
		Kind:            about.Kind,
		ContractVersion: about.Contracts.Newest,
		Local:           about.Local,
		Settings:        about.Settings,
		Options:         about.Options,

		OldestContractVersion: about.Contracts.Oldest,
	}
	_, common := about.Contracts.Common(wire.ContractsOf(req.GetContractVersion(), req.GetOldestContractVersion()))
	p.s.mu.Lock()
	p.s.runDirs = string(req.GetRunDirs())
	p.s.mu.Unlock()
	if req.GetConfigFollows() || !common {
		return resp, nil
	}
	// Describe works without the value; the following calls return the error.
	if value, err := p.s.prepare(ctx); err == nil {
		resp.Capabilities = wire.Capabilities(swarm.CapabilitiesOf(value))
	}
	return resp, nil
}

func (p pluginServer) Configure(ctx context.Context, req *pb.ConfigureRequest) (*pb.ConfigureResponse, error) {
	ctx, leave, err := p.s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	first := false
	p.s.start.Do(func() {
		first = true
		go p.s.make(req.GetJson())
	})
	if !first {
		return nil, wire.Status(fmt.Errorf("%w: settings came after the plugin was in use", swarm.ErrInvalidConfig))
	}
	value, err := p.s.prepare(ctx)
	if err != nil {
		return nil, p.s.wired(err)
	}
	return &pb.ConfigureResponse{Capabilities: wire.Capabilities(swarm.CapabilitiesOf(value))}, nil
}

func (p pluginServer) Check(ctx context.Context, _ *pb.CheckRequest) (*pb.CheckResponse, error) {
	return call(ctx, p.s, "Check", func(ctx context.Context, value any) (*pb.CheckResponse, error) {
		resp := &pb.CheckResponse{}
		if c, ok := value.(swarm.Checker); ok {
			if err := c.Check(ctx); err != nil {
				return resp, err
			}
		}
		if r, ok := value.(swarm.Reporter); ok {
			uses, err := r.Report(ctx)
			resp.Uses = uses
			return resp, err
		}
		return resp, nil
	})
}

// notifierServer serves a notifier.
type notifierServer struct {
	pb.UnimplementedNotifierServer
	s *Server
}

func (n notifierServer) Notify(ctx context.Context, req *pb.NotifyRequest) (*pb.NotifyResponse, error) {
	return call(ctx, n.s, "Notify", func(ctx context.Context, notifier swarm.Notifier) (*pb.NotifyResponse, error) {
		if req.GetId() == "" {
			return nil, fmt.Errorf("%w: the event has no id", swarm.ErrInvalidSpec)
		}
		a, err := notifier.Notify(ctx, wire.FromEvent(req))
		if err == nil {
			err = swarm.CheckNotifyAnswer(a)
		}
		return wire.NotifyAnswer(a), err
	})
}

// toolsServer serves the tools, which a plugin of any kind may have.
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
