package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Tool converts the description of a tool.
func Tool(t swarm.Tool) *pb.Tool {
	return &pb.Tool{
		Name: text(t.Name), Title: text(t.Title), Description: text(t.Description),
		InputSchema: t.Input, OutputSchema: t.Output,
		ReadOnly: t.ReadOnly, Destructive: t.Destructive, Idempotent: t.Idempotent,
		Right: text(string(t.Right)),
	}
}

// FromTool converts back. A right that is not known is the narrowest.
func FromTool(t *pb.Tool) swarm.Tool {
	right := swarm.ToolRight(t.GetRight())
	switch right {
	case "", swarm.RightLeader, swarm.RightMember, swarm.RightAnyone:
	default:
		right = swarm.RightPerson
	}
	return swarm.Tool{
		Name: t.GetName(), Title: t.GetTitle(), Description: t.GetDescription(),
		Input: t.GetInputSchema(), Output: t.GetOutputSchema(),
		ReadOnly: t.GetReadOnly(), Destructive: t.GetDestructive(), Idempotent: t.GetIdempotent(),
		Right: right,
	}
}

// ToolCall converts a call of a tool.
func ToolCall(c swarm.ToolCall) *pb.CallToolRequest {
	return &pb.CallToolRequest{Name: text(c.Name), Input: c.Input, Dir: []byte(c.Dir), Caller: &pb.ToolCaller{
		Person: c.Caller.Person, WorkerId: text(c.Caller.WorkerID), Worker: text(c.Caller.Worker),
		Team: text(c.Caller.Team), Agent: text(c.Caller.Agent), Leader: c.Caller.Leader, Session: text(c.Caller.Session),
	}}
}

// FromToolCall converts back.
func FromToolCall(r *pb.CallToolRequest) swarm.ToolCall {
	c := r.GetCaller()
	caller := swarm.ToolCaller{
		Person: c.GetPerson(), WorkerID: c.GetWorkerId(), Worker: c.GetWorker(),
		Team: c.GetTeam(), Agent: c.GetAgent(), Leader: c.GetLeader(), Session: c.GetSession(),
	}
	return swarm.ToolCall{Name: r.GetName(), Input: r.GetInput(), Caller: caller, Dir: string(r.GetDir())}
}
