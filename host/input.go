package host

import (
	"context"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Send gives an input to the selected workers, see [input.Sender.Send].
func (h *Host) Send(ctx context.Context, sel Selection, in swarm.Input) ([]SendOutcome, error) {
	return h.input().Send(ctx, sel, in)
}

// Deliver gives a text to the selected workers, see [input.Sender.Deliver].
func (h *Host) Deliver(ctx context.Context, sel Selection, req DeliverRequest) ([]SendOutcome, error) {
	return h.input().Deliver(ctx, sel, req)
}

// Answer picks a choice of the dialog that a worker's agent shows, see
// [input.Sender.Answer].
func (h *Host) Answer(ctx context.Context, name, choice, question string) (deliver.Answered, error) {
	return h.input().Answer(ctx, name, choice, question)
}

// Signal sends a running worker a signal that is not meant to end it, see
// [input.Sender.Signal].
func (h *Host) Signal(ctx context.Context, name string, req SignalRequest) (Worker, error) {
	return h.input().Signal(ctx, name, req)
}

// Attach returns the program that connects a person's terminal with a running worker,
// see [input.Sender.Attach].
func (h *Host) Attach(ctx context.Context, name string) (swarm.Attachment, error) {
	return h.input().Attach(ctx, name)
}
