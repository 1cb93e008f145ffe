package wire

import (
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// InputRequest converts what is given to a worker.
func InputRequest(h swarm.Handle, in swarm.Input) (*pb.InputRequest, error) {
	if len(in.Data) > swarm.MaxInput {
		return nil, tooLarge(in.Data)
	}
	out := &pb.InputRequest{Handle: Handle(h), Data: in.Data, Enter: in.Enter}
	switch in.Kind {
	case swarm.InputText:
	case swarm.InputInterrupt:
		out.Kind = pb.InputKind_INPUT_KIND_INTERRUPT
	case swarm.InputEOF:
		out.Kind = pb.InputKind_INPUT_KIND_EOF
	default:
		return nil, unknownInput(int(in.Kind))
	}
	return out, nil
}

// FromInputRequest converts back. A kind of a newer host is no text.
func FromInputRequest(r *pb.InputRequest) (swarm.Handle, swarm.Input, error) {
	in := swarm.Input{Data: r.GetData(), Enter: r.GetEnter()}
	switch r.GetKind() {
	case pb.InputKind_INPUT_KIND_UNSPECIFIED:
	case pb.InputKind_INPUT_KIND_INTERRUPT:
		in.Kind = swarm.InputInterrupt
	case pb.InputKind_INPUT_KIND_EOF:
		in.Kind = swarm.InputEOF
	default:
		return swarm.Handle{}, swarm.Input{}, unknownInput(int(r.GetKind()))
	}
	if len(in.Data) > swarm.MaxInput {
		return swarm.Handle{}, swarm.Input{}, tooLarge(in.Data)
	}
	return FromHandle(r.GetHandle()), in, nil
}

func unknownInput(kind int) error {
	return fmt.Errorf("%w: unknown kind of input %d", swarm.ErrInvalidSpec, kind)
}

func tooLarge(data []byte) error {
	return fmt.Errorf("%w: an input of %d bytes, at most %d", swarm.ErrInvalidSpec, len(data), swarm.MaxInput)
}

// SignalRequest converts which signal to send.
func SignalRequest(h swarm.Handle, o swarm.SignalOptions) *pb.SignalRequest {
	return &pb.SignalRequest{Handle: Handle(h), Signal: text(o.Signal), Mode: mode(o.Mode)}
}

// FromSignalRequest converts back.
func FromSignalRequest(r *pb.SignalRequest) (swarm.Handle, swarm.SignalOptions) {
	return FromHandle(r.GetHandle()), swarm.SignalOptions{Signal: r.GetSignal(), Mode: fromMode(r.GetMode())}
}
