package wire

import (
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

var inputKinds = map[swarm.InputKind]pb.InputKind{
	swarm.InputText:      pb.InputKind_INPUT_KIND_UNSPECIFIED,
	swarm.InputInterrupt: pb.InputKind_INPUT_KIND_INTERRUPT,
	swarm.InputEOF:       pb.InputKind_INPUT_KIND_EOF,
	swarm.InputKeys:      pb.InputKind_INPUT_KIND_KEYS,
}

// InputRequest converts an input.
func InputRequest(h swarm.Handle, in swarm.Input) (*pb.InputRequest, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	kind, ok := inputKinds[in.Kind]
	if !ok {
		return nil, unknownInput(int(in.Kind))
	}
	return &pb.InputRequest{
		Handle: Handle(h), Kind: kind, Data: in.Data, Enter: in.Enter, EnterAfter: span(in.EnterAfter), PasteOnly: in.PasteOnly,
	}, nil
}

// FromInputRequest converts back. A kind of a newer host is not taken for text.
func FromInputRequest(r *pb.InputRequest) (swarm.Handle, swarm.Input, error) {
	kind, ok := keyOf(inputKinds, r.GetKind())
	if !ok {
		return swarm.Handle{}, swarm.Input{}, unknownInput(int(r.GetKind()))
	}
	in := swarm.Input{
		Kind: kind, Data: r.GetData(), Enter: r.GetEnter(), EnterAfter: r.GetEnterAfter().AsDuration(), PasteOnly: r.GetPasteOnly(),
	}
	return FromHandle(r.GetHandle()), in, in.Check()
}

func unknownInput(kind int) error {
	return fmt.Errorf("%w: unknown kind of input %d", swarm.ErrInvalidSpec, kind)
}

// SignalRequest converts a request to send a signal.
func SignalRequest(h swarm.Handle, o swarm.SignalOptions) *pb.SignalRequest {
	return &pb.SignalRequest{Handle: Handle(h), Signal: text(o.Signal), Mode: mode(o.Mode)}
}

// FromSignalRequest converts back.
func FromSignalRequest(r *pb.SignalRequest) (swarm.Handle, swarm.SignalOptions) {
	return FromHandle(r.GetHandle()), swarm.SignalOptions{Signal: r.GetSignal(), Mode: fromMode(r.GetMode())}
}
