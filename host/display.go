package host

import (
	"context"
	"slices"

	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Peek returns the last lines of a worker, see [display.Reader.Peek].
func (h *Host) Peek(ctx context.Context, name string, lines int) (Peek, error) {
	return h.display().Peek(ctx, name, lines)
}

// Logs calls each for every piece of output of one worker, see [display.Reader.Logs].
func (h *Host) Logs(ctx context.Context, name string, o swarm.OutputOptions, each func(swarm.Output) error) error {
	if o.Follow {
		h.store.SayIfSlow()
	}
	return h.display().Logs(ctx, name, o, each)
}

// Names returns the names of the selected workers. It asks no backend.
func (h *Host) Names(ctx context.Context, sel Selection) ([]string, error) {
	recs, _, err := h.roster.See(ctx, sel)
	names := make([]string, len(recs))
	for i, rec := range recs {
		names[i] = rec.Name
	}
	return names, err
}

// LogsOf calls each for every piece of output of the selected workers, see
// [display.Reader.LogsOf].
func (h *Host) LogsOf(ctx context.Context, sel Selection, req LogsRequest, each func(name string, o swarm.Output) error) (warnings []string, err error) {
	if req.Output.Follow {
		h.store.SayIfSlow()
	}
	return h.display().LogsOf(ctx, sel, req, each)
}

// Explain returns how a profile reads a worker's screen, see [display.Reader.Explain].
func (h *Host) Explain(ctx context.Context, name string) (Explanation, error) {
	return h.display().Explain(ctx, name)
}

// AwaitReady waits until a worker is ready, see [display.Reader.AwaitReady].
func (h *Host) AwaitReady(ctx context.Context, name string, r ReadyRequest) error {
	h.store.SayIfSlow()
	return h.display().AwaitReady(ctx, name, r)
}

// WaitState waits until the worker is in one of the states, see
// [display.Reader.WaitState].
func (h *Host) WaitState(ctx context.Context, name string, until []profile.State) (Worker, error) {
	return h.display().WaitState(ctx, name, until)
}

// AgentStates returns what workers do that have a profile and run, by their ids.
func (h *Host) AgentStates(ctx context.Context, ids []string) (map[string]*AgentState, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	reg, err := h.store.Reading(ctx)
	if err != nil || reg == nil {
		return nil, err
	}
	recs, _, err := reg.Read(ctx, registry.Query{Names: ids})
	if err != nil {
		return nil, err
	}
	return h.display().States(ctx, slices.DeleteFunc(recs, func(r registry.Record) bool { return !r.IsRunning() })), nil
}

// TellOfLoop writes into the history what the loop of a ralph worker tells, see
// [display.TellOfLoop].
func (h *Host) TellOfLoop(ctx context.Context, id string, kind history.Kind, text string) error {
	return h.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		return display.TellOfLoop(ctx, tx, id, kind, text)
	})
}

// Questions returns the open questions of agents, the oldest first, see
// [question.Reader.Open]. The selection is as for [Host.Workers].
func (h *Host) Questions(ctx context.Context, sel Selection) (open []question.Question, warnings []string, err error) {
	recs, warnings, err := h.roster.See(ctx, sel)
	if err != nil {
		return nil, warnings, err
	}
	recs = h.display().Profiled(recs)
	ws := h.roster.Observe(ctx, recs)
	h.display().Look(ctx, recs, ws)
	open, err = h.questions().Open(ctx, recs, ws)
	return open, warnings, err
}
