package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// promptLimit is how long an agent may take to be ready for its prompt.
const promptLimit = 30 * time.Second

// prompt types the prompt of a new agent once it shows that it is ready, and puts
// it into its inbox if that is not to be.
func (s *spawning) prompt(ctx context.Context, caller team.Caller, w host.Worker) {
	err := s.typeIn(ctx, w)
	if err == nil {
		return
	}
	warning := fmt.Sprintf("cannot give agent '%s' its prompt: %v; it is in its inbox", s.out.Name, err)
	// Who gave up waiting still wants it to have the prompt.
	ctx = context.WithoutCancel(ctx)
	err = s.h.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		_, err := team.Send(ctx, tx, caller, s.req.Team, s.out.ID, s.req.Prompt, time.Now())
		return err
	})
	if err != nil {
		warning = fmt.Sprintf("cannot give agent '%s' its prompt: %v", s.out.Name, err)
	}
	s.out.Warnings = append(s.out.Warnings, warning)
}

func (s *spawning) typeIn(ctx context.Context, w host.Worker) error {
	if err := s.h.AwaitReady(ctx, w.ID, host.ReadyRequest{Timeout: promptLimit}); err != nil {
		return err
	}
	outs, err := s.h.Send(ctx, host.Selection{Names: []string{w.ID}}, swarm.Input{Data: []byte(s.req.Prompt), Enter: true})
	for _, out := range outs {
		err = errors.Join(err, out.Err)
	}
	return err
}
