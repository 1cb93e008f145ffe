package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

const (
	// DefaultPromptWait is how long an agent may take by default to be ready for its
	// prompt.
	DefaultPromptWait = 30 * time.Second
	// silentLimit is the time after which a silent program is given its prompt: some show
	// nothing before their first input.
	silentLimit = 5 * time.Second
)

// prompt types the prompt of a new agent once it shows that it is ready, and puts
// it into its inbox if that is not to be.
func (s *spawnRun) prompt(ctx context.Context, caller team.Caller, w worker.Worker) {
	err := s.typeIn(ctx, w)
	if err == nil {
		return
	}
	warning := fmt.Sprintf("cannot give agent '%s' its prompt: %v; it is in its inbox", s.out.Name, err)
	// A caller that gave up waiting still wants the agent to have the prompt.
	ctx = context.WithoutCancel(ctx)
	err = s.h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		_, err := team.Send(ctx, tx, caller, s.req.Team, s.out.AgentID, s.req.Prompt, time.Now())
		return err
	})
	if err != nil {
		warning = fmt.Sprintf("cannot give agent '%s' its prompt: %v", s.out.Name, err)
	}
	s.out.Warnings = append(s.out.Warnings, warning)
}

// errUnread says that the typed text may be lost: programs that take over their terminal
// drop earlier input.
var errUnread = errors.New("it does not read its terminal")

func (s *spawnRun) typeIn(ctx context.Context, w worker.Worker) error {
	until := time.Now().Add(s.req.PromptWait)
	// A pipe keeps unread input.
	if !s.piped() || s.req.ReadyPattern != nil {
		if err := s.awaitReady(ctx, w); err != nil {
			return err
		}
	}
	err := s.deliver(ctx, w, DefaultPromptWait)
	// Nothing was typed then. A program that still shows nothing may never do.
	if left := time.Until(until); errors.Is(err, deliver.ErrNoPrompt) && left > 0 && !s.blank(ctx, w) {
		err = s.deliver(ctx, w, left)
	}
	return err
}

func (s *spawnRun) deliver(ctx context.Context, w worker.Worker, limit time.Duration) error {
	outs, err := s.h.Input().Deliver(ctx, worker.Selection{Names: []string{w.ID}}, input.DeliverRequest{
		Text: []byte(s.req.Prompt), Enter: true, Timeout: limit,
	})
	for _, out := range outs {
		err = errors.Join(err, out.Err)
		if out.Pending && !s.piped() {
			err = errors.Join(err, errUnread)
		}
	}
	return err
}

// piped reports whether the agent gets its prompt through a pipe.
func (s *spawnRun) piped() bool {
	return s.req.Backend == pipes && s.req.Prompt != "" && !takesPrompt(s.req.Command)
}

// pipes is the backend whose workers have no terminal.
const pipes = "process"

func (s *spawnRun) awaitReady(ctx context.Context, w worker.Worker) error {
	if s.req.ReadyPattern != nil {
		return s.h.Display().AwaitReady(ctx, w.Name, display.ReadyRequest{Pattern: s.req.ReadyPattern, Timeout: s.req.PromptWait})
	}
	err := s.h.Display().AwaitReady(ctx, w.Name, display.ReadyRequest{Timeout: silentLimit})
	switch {
	case !errors.Is(err, display.ErrNotReady):
		return err
	case s.blank(ctx, w):
		return nil
	}
	return s.h.Display().AwaitReady(ctx, w.Name, display.ReadyRequest{Timeout: s.req.PromptWait - silentLimit})
}

func (s *spawnRun) blank(ctx context.Context, w worker.Worker) bool {
	p, err := s.h.Display().Peek(ctx, w.ID, 0)
	return err == nil && strings.TrimSpace(strings.Join(p.Lines, "")) == ""
}
