package agent

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

// force ends an agent: first its process, then, in the change that records that end, the
// agent. A caller that is killed in between leaves an ended worker, whose agent the next
// changing call terminates.
func (k *killRun) force(ctx context.Context) error {
	for {
		a, err := k.target(ctx)
		if err != nil {
			return err
		}
		if k.h.Callers().ID() == a.WorkerID {
			err = k.forceOwn(ctx, &a)
		} else {
			err = k.end(ctx, &a)
		}
		if !errors.Is(err, errMoved) {
			return err
		}
	}
}

// target returns the agent. It writes nothing for a person, who can kill even if the
// database can't be written.
func (k *killRun) target(ctx context.Context) (a registry.Agent, err error) {
	err = k.h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		a, err = team.Target(ctx, tx, k.caller, k.req.TeamName, k.req.AgentID)
		return err
	})
	if err == nil && k.caller.Agent != "" {
		err = k.h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error { return team.Touch(ctx, tx, k.caller, time.Now()) })
	}
	return a, err
}

func (k *killRun) end(ctx context.Context, a *registry.Agent) error {
	var settled error // why this call has nothing to release
	outs, err := k.h.Kill().Kill(ctx, worker.Selection{Names: []string{a.WorkerID}}, kill.Request{
		Allowed:  true,
		AtOnce:   true,
		Progress: k.req.Progress,
		Recorded: func(ctx context.Context, tx *registry.Tx, _ registry.Record) error {
			err := k.release(ctx, tx, a, registry.ShutdownForceKilled, time.Now())
			if isSettled(err) {
				settled = err
				return nil // the end of the worker is recorded all the same
			}
			return err
		},
		Warn: func(w worker.Warning) { k.out.Warnings = append(k.out.Warnings, w.Text) },
	})
	// Without a record there is nothing to end.
	recorded := err == nil
	ended, signalled := recorded, false
	if !errors.Is(err, store.ErrNotFound) {
		k.out.Warnings = warned(k.out.Warnings, err)
	}
	for _, out := range outs {
		signalled = out.Err == nil && out.Result.Signal != ""
		if out.Err != nil {
			recorded, ended = false, false
			k.out.Warnings = append(k.out.Warnings, out.Err.Error())
		}
		for _, w := range out.Warnings {
			// Neither the end nor its effect on the agent may be recorded.
			recorded = false
			k.out.Warnings = append(k.out.Warnings, w.Text)
		}
	}
	if settled == nil && (!recorded || !k.won) {
		settled = k.finish(ctx, a)
		if ended && isUnwritable(settled) {
			k.out.Agent, k.out.Phase = a.ID, registry.ShutdownForceKilled // the warning says the rest
			return nil
		}
	}
	if signalled && hasEnded(settled) {
		settled = k.claim(ctx, a, settled)
	}
	if settled != nil {
		return settled
	}
	k.out.Warnings = idle(ctx, k.h, k.req.TeamName, k.out.Warnings)
	return nil
}

// finish terminates an agent whose process could not be ended, or whose end could
// not be recorded.
func (k *killRun) finish(ctx context.Context, a *registry.Agent) error {
	won := k.won
	err := k.h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		return k.release(ctx, tx, a, registry.ShutdownForceKilled, time.Now())
	})
	if won && hasEnded(err) {
		return nil // it was this call's own doing
	}
	return err
}

// forceOwn terminates the agent whose worker the caller itself runs in: no answer is
// possible once that worker is being ended.
func (k *killRun) forceOwn(ctx context.Context, a *registry.Agent) error {
	err := k.h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		return k.release(ctx, tx, a, registry.ShutdownForceKilled, time.Now())
	})
	if err != nil {
		return err
	}
	k.out.AfterAnswer = func(ctx context.Context) error { return endOwn(ctx, k.h, k.req.TeamName, a.WorkerID) }
	return nil
}

// hearing is how long a worker has to read the answer before it ends.
const hearing = time.Second

// endOwn stops the server of a team if no member uses it any more, and then ends the worker in
// which the caller runs, unless that ends by itself before. It may not return.
func endOwn(ctx context.Context, h *host.Host, teamName, workerID string) error {
	err := h.TeamServers().StopIdle(ctx, teamName)
	limited, cancel := context.WithTimeout(ctx, hearing)
	defer cancel()
	_ = h.Wait(limited, worker.Selection{Names: []string{workerID}}, func(worker.Worker) {}) // it is ended in any case
	return errors.Join(err, endWorker(ctx, h, workerID))
}

func endWorker(ctx context.Context, h *host.Host, id string) error {
	outs, err := h.Kill().Kill(ctx, worker.Selection{Names: []string{id}}, kill.Request{Allowed: true, Force: new(true)})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	for _, out := range outs {
		err = errors.Join(err, out.Err)
	}
	return err
}

// errMoved says that the agent was started again meanwhile, and now has another process
// than the ended one.
var errMoved = errors.New("the agent was started again meanwhile")

// release terminates an agent after the end of its process, which a names. The error is
// [errMoved] if the agent has another process now.
func release(ctx context.Context, tx *registry.Tx, a *registry.Agent, l team.Departure, now time.Time) (team.Released, error) {
	current, err := tx.Agent(ctx, a.ID)
	if errors.Is(err, registry.ErrNotFound) {
		err = &team.NoTeamError{Team: a.Team} // no agent goes but with its team
	}
	if err == nil && current.Status != registry.AgentTerminated && current.WorkerID != a.WorkerID {
		err = errMoved
	}
	if err != nil {
		return team.Released{}, err
	}
	return team.Release(ctx, tx, a.ID, l, now)
}

func hasEnded(err error) bool {
	_, over := errors.AsType[*team.TerminatedError](err)
	return over
}

// isSettled reports whether an error of [release] means that nothing is left to be
// released.
func isSettled(err error) bool {
	_, dissolved := errors.AsType[*team.NoTeamError](err)
	return dissolved || hasEnded(err) || errors.Is(err, errMoved)
}

func isUnwritable(err error) bool {
	return errors.Is(err, registry.ErrReadOnly) || errors.Is(err, registry.ErrFull)
}
