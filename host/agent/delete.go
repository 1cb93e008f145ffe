package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// Deleted lists the things that were removed with a team.
type Deleted struct {
	// Killed are the ids of the agents that were alive.
	Killed   []string
	Warnings []string
	// AfterAnswer ends the worker that the caller itself runs in, if that is one of
	// the team's; nil: there is nothing more to do.
	AfterAnswer func(context.Context) error
}

// DeleteTeam removes a team with its tasks and messages; its leader alone may. One
// with live agents is a [team.LiveAgentsError], unless force is set, which kills
// them. Its server is ended. The records of ended workers stay until they are
// cleaned.
func DeleteTeam(ctx context.Context, h *host.Host, name string, force bool) (Deleted, error) {
	caller, warnings, err := begin(ctx, h, name)
	if err != nil {
		return Deleted{}, err
	}
	d := deleteRun{h: h, name: name, caller: caller, out: Deleted{Warnings: warnings}}
	if err := d.check(ctx, force); err != nil {
		return Deleted{}, err
	}
	// Agents join while they hold the server's lock, so none joins while the server is
	// ended.
	release, err := h.TeamServers().Hold(ctx, name, true)
	if err != nil {
		return Deleted{}, err
	}
	defer release()
	// An agent may have joined while this call waited.
	if err := d.check(ctx, force); err != nil {
		return Deleted{}, err
	}
	ctx = context.WithoutCancel(ctx)
	for {
		if force {
			if err := d.kill(ctx); err != nil {
				return Deleted{}, err
			}
		}
		if err := d.stopServer(ctx); err != nil {
			return Deleted{}, err
		}
		err := h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error { return team.Delete(ctx, tx, caller, name) })
		if err == nil {
			d.endCaller(ctx)
			return d.out, nil
		}
		if _, live := errors.AsType[*team.LiveAgentsError](err); !force || !live {
			return Deleted{}, err
		}
		// An agent has joined meanwhile.
	}
}

type deleteRun struct {
	h      *host.Host
	name   string
	caller team.Caller
	out    Deleted
}

// check refuses before anything is ended.
func (d *deleteRun) check(ctx context.Context, force bool) error {
	return d.h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		if err := team.Lead(ctx, tx, d.caller, d.name, "delete the team"); err != nil || force {
			return err
		}
		return team.Empty(ctx, tx, d.name, "")
	})
}

// kill ends all live agents but the caller at the same time, first their processes.
func (d *deleteRun) kill(ctx context.Context) error {
	live, err := view(ctx, d.h, d.name, func(ctx context.Context, tx *registry.Tx) ([]registry.Agent, error) {
		return tx.Members(ctx, d.name)
	})
	// An agent has the right only while it is an agent, so the caller goes last.
	live = slices.DeleteFunc(live, func(a registry.Agent) bool { return a.ID == d.caller.Agent })
	if err != nil || len(live) == 0 {
		return err
	}
	own := d.h.Callers().ID()
	var wg sync.WaitGroup
	warnings := make([][]string, len(live))
	for i, a := range live {
		if a.WorkerID == own {
			d.out.AfterAnswer = func(ctx context.Context) error { return endOwn(ctx, d.h, d.name, own) }
			continue
		}
		wg.Go(func() { warnings[i] = warned(nil, endWorker(ctx, d.h, a.WorkerID)) })
	}
	wg.Wait()
	d.out.Warnings = append(d.out.Warnings, slices.Concat(warnings...)...)
	return d.h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		for _, a := range live {
			r, err := release(ctx, tx, &a, team.Departure{Phase: registry.ShutdownForceKilled, Requester: team.Leader}, time.Now())
			if errors.Is(err, errMoved) {
				continue // it has its turn again
			}
			if err != nil && !hasEnded(err) {
				return err
			}
			d.out.Killed = append(d.out.Killed, a.ID)
			d.out.Warnings = append(d.out.Warnings, r.Warnings...)
		}
		return nil
	})
}

// endCaller ends the worker of the agent that has deleted its own team.
func (d *deleteRun) endCaller(ctx context.Context) {
	id := d.caller.WorkerID
	if d.caller.Agent == "" || d.caller.Team != d.name {
		return
	}
	d.out.Killed = append(d.out.Killed, d.caller.Agent)
	if id == d.h.Callers().ID() {
		d.out.AfterAnswer = func(ctx context.Context) error { return endOwn(ctx, d.h, d.name, id) }
	} else {
		d.out.Warnings = warned(d.out.Warnings, endWorker(ctx, d.h, id))
	}
}

// stopServer ends the team's server, which is held alone.
func (d *deleteRun) stopServer(ctx context.Context) error {
	s, err := serverOf(ctx, d.h, d.name)
	if err != nil || s == nil || s.WorkerID == "" {
		return err
	}
	d.out.Warnings = warned(d.out.Warnings, endWorker(ctx, d.h, s.WorkerID))
	return nil
}
