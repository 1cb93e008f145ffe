package wire

import (
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// InputRequest converts an input.
func InputRequest(h swarm.Handle, in swarm.Input) (*pb.InputRequest, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	out := &pb.InputRequest{Handle: Handle(h), Data: in.Data, Enter: in.Enter, EnterAfter: span(in.EnterAfter), PasteOnly: in.PasteOnly}
	switch in.Kind {
	case swarm.InputText:
	case swarm.InputInterrupt:
		out.Kind = pb.InputKind_INPUT_KIND_INTERRUPT
	case swarm.InputEOF:
		out.Kind = pb.InputKind_INPUT_KIND_EOF
	case swarm.InputKeys:
		out.Kind = pb.InputKind_INPUT_KIND_KEYS
	default:
		return nil, unknownInput(int(in.Kind))
	}
	return out, nil
}

// FromInputRequest converts back. A kind of a newer host is not taken for text.
func FromInputRequest(r *pb.InputRequest) (swarm.Handle, swarm.Input, error) {
	in := swarm.Input{
		Data: r.GetData(), Enter: r.GetEnter(), EnterAfter: r.GetEnterAfter().AsDuration(), PasteOnly: r.GetPasteOnly(),
	}
	switch r.GetKind() {
	case pb.InputKind_INPUT_KIND_UNSPECIFIED:
	case pb.InputKind_INPUT_KIND_INTERRUPT:
		in.Kind = swarm.InputInterrupt
	case pb.InputKind_INPUT_KIND_EOF:
		in.Kind = swarm.InputEOF
	case pb.InputKind_INPUT_KIND_KEYS:
		in.Kind = swarm.InputKeys
	default:
		return swarm.Handle{}, swarm.Input{}, unknownInput(int(r.GetKind()))
	}
	if err := in.Check(); err != nil {
		return swarm.Handle{}, swarm.Input{}, err
	}
	return FromHandle(r.GetHandle()), in, nil
}

func unknownInput(kind int) error {
	return fmt.Errorf("%w: unknown kind of input %d", swarm.ErrInvalidSpec, kind)
}

// SignalRequest converts which signal to send.
func SignalRequest(h swarm.Handle, o swarm.SignalOptions) *pb.SignalRequest {
	return &pb.SignalRequest{Handle: Handle(h), Signal: text(o.Signal), Mode: mode(o.Mode)}
}

// FromSignalRequest converts back.
func FromSignalRequest(r *pb.SignalRequest) (swarm.Handle, swarm.SignalOptions) {
	return FromHandle(r.GetHandle()), swarm.SignalOptions{Signal: r.GetSignal(), Mode: fromMode(r.GetMode())}
}
