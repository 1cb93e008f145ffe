package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// SweepTeam records what has become of the agents of a team, or of all teams with an
// empty name, since anybody looked: whose process has ended, who is silent. It stops
// servers that nobody uses any more. What keeps it from some of it is in warnings.
// Living are the ids of workers whose agents call at this moment: they are not silent.
//
// Without agents it reads once and changes nothing.
func (h *Host) SweepTeam(ctx context.Context, teamName string, living ...string) (warnings []string, err error) {
	c, err := h.crew(ctx, teamName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(c.agents) > 0 {
		warnings = append(c.warnings, h.catchUpAgents(ctx, c)...)
		more, err := h.sweepAgents(ctx, teamName, func(id string, s team.Signs) bool {
			return s.Gone || !slices.Contains(living, id)
		})
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, more...)
	}
	if err := h.StopIdleServers(ctx, teamName); err != nil {
		warnings = append(warnings, err.Error())
	}
	return warnings, ctx.Err()
}

// teamsLive reports whether there is anything to sweep: an agent that is not
// terminated, or the server of a team that agents used.
func (h *Host) teamsLive(ctx context.Context) (live bool, err error) {
	err = h.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		agents, warnings, err := tx.Agents(ctx, registry.AgentQuery{Live: true})
		if err != nil || len(agents)+len(warnings) > 0 {
			live = true
			return err
		}
		teams, _, err := tx.Teams(ctx)
		live = slices.ContainsFunc(teams, func(t registry.Team) bool { return t.Server != nil && t.Server.Used })
		return err
	})
	return live, err
}

// Signs returns what is known of the workers of a team's agents, by the workers' ids.
// A backend is asked only for those that may have ended. It writes nothing.
func (h *Host) Signs(ctx context.Context, teamName string) (map[string]team.Signs, error) {
	c, err := h.crew(ctx, teamName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	signs := h.signs(c)
	var ask []registry.Record
	for _, r := range c.recs {
		if r.State == registry.Running && h.history.Stale(&r) {
			ask = append(ask, r)
		}
	}
	for i, w := range h.observe(ctx, ask) {
		if w.Gone() {
			end := history.TeamEnd(swarm.Status{Exit: w.Exit, Completion: w.Completion})
			signs[ask[i].ID] = team.Signs{Gone: true, Reason: reasonGone(end)}
		}
	}
	return signs, nil
}

// crew are the agents of a team that are not terminated, and the records of their
// workers.
type crew struct {
	agents   []registry.Agent
	recs     []registry.Record
	warnings []string
}

func (h *Host) crew(ctx context.Context, teamName string) (c crew, err error) {
	err = h.View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		c.agents, c.warnings, err = tx.Agents(ctx, registry.AgentQuery{Team: teamName, Live: true})
		if err != nil || len(c.agents) == 0 {
			return err
		}
		ids := make([]string, len(c.agents))
		for i, a := range c.agents {
			ids[i] = a.WorkerID
		}
		var more []string
		c.recs, more, err = tx.Read(ctx, registry.Query{Names: ids})
		c.warnings = append(c.warnings, more...)
		return err
	})
	return c, err
}

// signs are what the registry and the run directories tell of agents.
func (h *Host) signs(c crew) map[string]team.Signs {
	signs := make(map[string]team.Signs, len(c.agents))
	for _, a := range c.agents {
		at := registry.IndexOf(c.recs, a.WorkerID)
		switch {
		case at < 0 && len(c.warnings) > 0:
			// Its record may be the one that can't be read.
		case at >= 0 && c.recs[at].State != registry.Stopped:
			signs[a.WorkerID] = team.Signs{Output: h.dir.LastOutput(a.WorkerID)}
		case h.dir.Locked(respawnLock(a.WorkerID)):
			// It is being replaced.
		case at < 0:
			signs[a.WorkerID] = team.Signs{Gone: true, Reason: "its worker was removed"}
		default:
			r := &c.recs[at]
			end := history.TeamEnd(swarm.Status{Exit: r.Exit, Completion: r.Completion})
			if r.Reason != "" {
				end = team.End{Reason: r.Reason}
			}
			signs[a.WorkerID] = team.Signs{Gone: true, Reason: reasonGone(end)}
		}
	}
	return signs
}

// reasonGone is said of an agent whose end nobody recorded when it came.
func reasonGone(e team.End) string {
	if e.Killed {
		return "killed"
	}
	return e.Reason
}

// catchUpAgents records the ends of the workers of agents, and settles those whose
// spawn was interrupted.
func (h *Host) catchUpAgents(ctx context.Context, c crew) (warnings []string) {
	warn := func(name string, err error) {
		if err != nil && !errors.Is(err, ErrNotFound) {
			warnings = append(warnings, fmt.Sprintf("cannot get the status of '%s': %v", name, err))
		}
	}
	for _, r := range c.recs {
		if r.State == registry.Starting && !h.dir.Locked(r.ID) {
			_, err := h.settled(ctx, r)
			warn(r.Name, err)
		}
	}
	gs := h.plugins.Groups(c.recs, func(r registry.Record) bool { return r.IsRunning() && h.history.Stale(&r) })
	if len(gs) == 0 {
		return warnings
	}
	reg, err := h.store.Writing(ctx)
	for _, g := range gs {
		if err == nil {
			_, err = h.history.CatchUp(ctx, reg, g)
		}
		warn(g.Recs[0].Name, err)
	}
	return warnings
}

// sweepAgents records what the registry and the run directories tell of those agents
// that pick accepts, by the id of their worker.
func (h *Host) sweepAgents(ctx context.Context, teamName string, pick func(id string, s team.Signs) bool) (warnings []string, err error) {
	c, err := h.crew(ctx, teamName)
	if err != nil {
		return nil, err
	}
	signs := h.signs(c)
	maps.DeleteFunc(signs, func(id string, s team.Signs) bool { return !pick(id, s) })
	if len(signs) == 0 {
		return nil, nil
	}
	h.lookAtSilent(ctx, c, signs)
	err = h.Change(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		warnings, err = team.Sweep(ctx, tx, teamName, signs, time.Now())
		return err
	})
	return warnings, err
}

// sweepStranded records the ends of agents whose workers are gone, but for those of the
// workers that the call is about.
func (h *Host) sweepStranded(ctx context.Context, busy func(id string) bool) error {
	_, err := h.sweepAgents(ctx, "", func(id string, s team.Signs) bool { return s.Gone && !busy(id) })
	return err
}
