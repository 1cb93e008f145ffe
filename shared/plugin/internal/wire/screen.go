package wire

import (
	"math"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Screen converts a screen.
func Screen(s swarm.Screen) *pb.ScreenResponse {
	r := &pb.ScreenResponse{
		Lines: texts(s.Lines), Styled: texts(s.Styled), Taken: s.Taken, Columns: int64(s.Columns), Rows: int64(s.Rows),
	}
	if c := s.Cursor; c != nil {
		r.Cursor = &pb.Cursor{Column: int64(c.Column), Row: int64(c.Row), Visible: c.Visible}
	}
	return r
}

// FromScreen converts back.
func FromScreen(r *pb.ScreenResponse) swarm.Screen {
	s := swarm.Screen{
		Lines: texts(r.GetLines()), Styled: texts(r.GetStyled()), Taken: r.GetTaken(),
		Columns: size(r.GetColumns()), Rows: size(r.GetRows()),
	}
	if c := r.GetCursor(); c != nil {
		s.Cursor = &swarm.Cursor{Column: size(c.GetColumn()), Row: size(c.GetRow()), Visible: c.GetVisible()}
	}
	return s
}

// size returns a number of columns or rows, or a place on a screen.
func size(n int64) int { return int(min(max(n, 0), math.MaxUint16)) }

// AttachRequest converts a request to attach a terminal.
func AttachRequest(h swarm.Handle, o swarm.AttachOptions) *pb.AttachRequest {
	return &pb.AttachRequest{Handle: Handle(h), Env: byteses(o.Env), ReadOnly: o.ReadOnly}
}

// FromAttachRequest converts back.
func FromAttachRequest(r *pb.AttachRequest) (swarm.Handle, swarm.AttachOptions) {
	return FromHandle(r.GetHandle()), swarm.AttachOptions{Env: strs(r.GetEnv()), ReadOnly: r.GetReadOnly()}
}

// Attachment converts an attachment.
func Attachment(a swarm.Attachment) *pb.AttachResponse {
	return &pb.AttachResponse{
		Command: byteses(a.Command), Unset: byteses(a.Unset), Env: byteses(a.Env), Leave: text(a.Leave), ReadOnly: a.ReadOnly,
	}
}

// FromAttachment converts back.
func FromAttachment(r *pb.AttachResponse) swarm.Attachment {
	return swarm.Attachment{
		Command: strs(r.GetCommand()), Unset: strs(r.GetUnset()), Env: strs(r.GetEnv()),
		Leave: Line(r.GetLeave()), ReadOnly: r.GetReadOnly(),
	}
}

// ScreenResult converts the result for one worker of a batch.
func ScreenResult(r swarm.ScreenResult) *pb.ScreenResult {
	if r.Err != nil {
		return &pb.ScreenResult{Error: Error(r.Err)}
	}
	return &pb.ScreenResult{Screen: Screen(r.Screen)}
}

// FromScreenResult converts back.
func FromScreenResult(r *pb.ScreenResult) swarm.ScreenResult {
	if r.GetError() != nil {
		return swarm.ScreenResult{Err: FromError(r.GetError())}
	}
	return swarm.ScreenResult{Screen: FromScreen(r.GetScreen())}
}

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

// CopyRequest converts a request to copy files.
func CopyRequest(h swarm.Handle, o swarm.CopyOptions) *pb.CopyRequest {
	return &pb.CopyRequest{
		Handle: Handle(h), Path: []byte(o.Path), Into: o.Into, Dir: []byte(o.Dir), Confined: o.Confined, Shim: []byte(o.Shim),
	}
}

// FromCopyRequest converts back.
func FromCopyRequest(r *pb.CopyRequest) (swarm.Handle, swarm.CopyOptions) {
	return FromHandle(r.GetHandle()), swarm.CopyOptions{
		Path: string(r.GetPath()), Into: r.GetInto(), Dir: string(r.GetDir()), Confined: r.GetConfined(), Shim: string(r.GetShim()),
	}
}

// ForwardRequest converts a request to connect with a port.
func ForwardRequest(h swarm.Handle, o swarm.ForwardOptions) *pb.ForwardRequest {
	return &pb.ForwardRequest{Handle: Handle(h), Port: uint32(max(o.Port, 0))}
}

// FromForwardRequest converts back.
func FromForwardRequest(r *pb.ForwardRequest) (swarm.Handle, swarm.ForwardOptions) {
	return FromHandle(r.GetHandle()), swarm.ForwardOptions{Port: int(r.GetPort())}
}

// Program converts a program that takes the place of the host's.
func Program(p swarm.Program) *pb.Program {
	return &pb.Program{Command: byteses(p.Command), Env: byteses(p.Env), Unset: byteses(p.Unset)}
}

// FromProgram converts back.
func FromProgram(p *pb.Program) swarm.Program {
	return swarm.Program{Command: strs(p.GetCommand()), Env: strs(p.GetEnv()), Unset: strs(p.GetUnset())}
}
