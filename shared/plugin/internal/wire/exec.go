package wire

import (
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ExecRequest converts a request to run a command in a worker.
func ExecRequest(h swarm.Handle, o swarm.ExecOptions) *pb.ExecRequest {
	return &pb.ExecRequest{
		Handle: Handle(h), Command: byteses(o.Command), Dir: []byte(o.Dir), Env: byteses(o.Env), Tty: o.TTY, Shim: []byte(o.Shim),
	}
}

// FromExecRequest converts back.
func FromExecRequest(r *pb.ExecRequest) (swarm.Handle, swarm.ExecOptions) {
	return FromHandle(r.GetHandle()), swarm.ExecOptions{
		Command: strs(r.GetCommand()), Dir: string(r.GetDir()), Env: strs(r.GetEnv()), TTY: r.GetTty(), Shim: string(r.GetShim()),
	}
}

// Program converts a program that takes the place of the host's.
func Program(p swarm.Program) *pb.ExecResponse {
	return &pb.ExecResponse{Command: byteses(p.Command), Env: byteses(p.Env), Unset: byteses(p.Unset)}
}

// FromProgram converts back.
func FromProgram(r *pb.ExecResponse) swarm.Program {
	return swarm.Program{Command: strs(r.GetCommand()), Env: strs(r.GetEnv()), Unset: strs(r.GetUnset())}
}
