package client

import (
	"context"
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Tools are the tools of a plugin in another process. It implements [swarm.Toolbox]; see
// [Backend] for errors.
type Tools struct {
	client *Client
	rpc    pb.ToolsClient
}

var _ swarm.Toolbox = (*Tools)(nil)

// Tools returns the tools of a plugin of any kind, or nil if it offers none.
func (c *Client) Tools() *Tools {
	if c.info.Kind != KindTools && !c.info.Has(swarm.CapTools) {
		return nil
	}
	return &Tools{client: c, rpc: pb.NewToolsClient(c.conn)}
}

// ListTools implements [swarm.Toolbox]. A list that breaks a rule of the contract is an error.
func (t *Tools) ListTools(ctx context.Context) ([]swarm.Tool, error) {
	resp, err := t.rpc.ListTools(ctx, &pb.ListToolsRequest{})
	if err != nil {
		return nil, wire.FromStatus(ctx, err)
	}
	tools := wire.Convert(resp.GetTools(), wire.FromTool)
	if err := swarm.CheckTools(tools); err != nil {
		return nil, fmt.Errorf("plugin '%s' lists tools that break the contract: %w", t.client.info.Name, err)
	}
	return tools, nil
}

// CallTool implements [swarm.Toolbox].
func (t *Tools) CallTool(ctx context.Context, c swarm.ToolCall) ([]byte, error) {
	if n := len(c.Input); n > swarm.MaxToolInput {
		return nil, fmt.Errorf("%w: the input has %d bytes, at most %d", swarm.ErrInvalidSpec, n, swarm.MaxToolInput)
	}
	resp, err := t.rpc.CallTool(ctx, wire.ToolCall(c))
	if err != nil {
		return nil, wire.FromStatus(ctx, err)
	}
	if n := len(resp.GetAnswer()); n > swarm.MaxToolAnswer {
		return nil, fmt.Errorf("plugin '%s' answered with %d bytes, at most %d", t.client.info.Name, n, swarm.MaxToolAnswer)
	}
	return resp.GetAnswer(), nil
}
