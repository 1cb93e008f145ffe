package liveness

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
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Sweep records what has become of the agents of a team, or of all teams with an empty
// name, since the last sweep: ended processes and silence. It stops servers without users.
// Failures are in warnings. The ids in living are those of workers whose agents call at
// this moment: they are not silent.
//
// Without agents it reads once and changes nothing.
func (c *Checker) Sweep(ctx context.Context, teamName string, living ...string) (warnings []string, err error) {
	m, err := c.members(ctx, teamName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(m.agents) > 0 {
		failed, stale := c.catchUp(ctx, m)
		warnings = append(m.warnings, failed...)
		if stale {
			if m, err = c.members(ctx, teamName); err != nil {
				return warnings, err
			}
		}
		more, err := c.record(ctx, teamName, m, func(id string, s team.Signs) bool {
			return s.Gone || !slices.Contains(living, id)
		})
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, more...)
	}
	if err := c.opts.StopIdle(ctx, teamName); err != nil {
		warnings = append(warnings, err.Error())
	}
	return warnings, ctx.Err()
}

// SweepGone records the ends of agents whose workers are gone, but for those of the
// workers that the call is about. It asks no backend.
func (c *Checker) SweepGone(ctx context.Context, busy func(id string) bool) error {
	m, err := c.members(ctx, "")
	if err != nil {
		return err
	}
	_, err = c.record(ctx, "", m, func(id string, s team.Signs) bool { return s.Gone && !busy(id) })
	return err
}

// Any reports whether there is anything to sweep: an agent that is not terminated, or
// the server of a team that agents used.
func (c *Checker) Any(ctx context.Context) (live bool, err error) {
	err = c.opts.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
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
func (c *Checker) Signs(ctx context.Context, teamName string) (map[string]team.Signs, error) {
	m, err := c.members(ctx, teamName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	signs := c.signs(m)
	stale := func(r registry.Record) bool { return r.IsRunning() && c.opts.History.Stale(&r) }
	for _, g := range c.opts.Plugins.Groups(m.recs, stale) {
		for i, s := range c.opts.Plugins.Statuses(ctx, g) {
			if s.Err != nil || !history.Over(s.Status) {
				continue
			}
			end := swarm.Status{Exit: s.Status.Exit, Completion: s.Status.Completion}
			if end.Completion == nil {
				end.Completion = g.Recs[i].Completion
			}
			signs[g.Recs[i].ID] = team.Signs{Gone: true, Reason: reasonGone(history.TeamEnd(end))}
		}
	}
	return signs, nil
}

// members are the agents of a team that are not terminated, and the records of their
// workers.
type members struct {
	agents   []registry.Agent
	recs     []registry.Record
	warnings []string
}

func (c *Checker) members(ctx context.Context, teamName string) (m members, err error) {
	err = c.opts.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		m.agents, m.warnings, err = tx.Agents(ctx, registry.AgentQuery{Team: teamName, Live: true})
		if err != nil || len(m.agents) == 0 {
			return err
		}
		ids := make([]string, len(m.agents))
		for i, a := range m.agents {
			ids[i] = a.WorkerID
		}
		var more []string
		m.recs, more, err = tx.Read(ctx, registry.Query{Names: ids})
		m.warnings = append(m.warnings, more...)
		return err
	})
	return m, err
}

func (c *Checker) signs(m members) map[string]team.Signs {
	signs := make(map[string]team.Signs, len(m.agents))
	for _, a := range m.agents {
		at := registry.IndexOf(m.recs, a.WorkerID)
		switch {
		case at < 0 && len(m.warnings) > 0:
			// Its record may be the one that can't be read.
		case at >= 0 && m.recs[at].State != registry.Stopped:
			signs[a.WorkerID] = team.Signs{Output: c.opts.Dir.LastOutput(a.WorkerID)}
		case c.opts.Dir.Locked(statedir.RespawnLock(a.WorkerID)):
			// It is being replaced.
		case at < 0:
			signs[a.WorkerID] = team.Signs{Gone: true, Reason: "its worker was removed"}
		default:
			r := &m.recs[at]
			end := history.TeamEnd(swarm.Status{Exit: r.Exit, Completion: r.Completion})
			if r.Reason != "" {
				end = team.End{Reason: r.Reason}
			}
			signs[a.WorkerID] = team.Signs{Gone: true, Reason: reasonGone(end)}
		}
	}
	return signs
}

// reasonGone is the reason of an agent whose end was not recorded when it came.
func reasonGone(e team.End) string {
	if e.Killed {
		return "killed"
	}
	return e.Reason
}

// catchUp records the ends of the workers of agents, and settles those whose spawn was
// interrupted. It reports whether m may be stale after that.
func (c *Checker) catchUp(ctx context.Context, m members) (warnings []string, stale bool) {
	warn := func(name string, err error) {
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			warnings = append(warnings, fmt.Sprintf("cannot get the status of '%s': %v", name, err))
		}
	}
	for _, r := range m.recs {
		if r.State == registry.Starting && !c.opts.Dir.Locked(r.ID) {
			_, err := c.opts.Settler.Settled(ctx, r)
			warn(r.Name, err)
			stale = true
		}
	}
	gs := c.opts.Plugins.Groups(m.recs, func(r registry.Record) bool { return r.IsRunning() && c.opts.History.Stale(&r) })
	if len(gs) == 0 {
		return warnings, stale
	}
	reg, err := c.opts.Store.Writing(ctx)
	for _, g := range gs {
		if err == nil {
			_, err = c.opts.History.CatchUp(ctx, reg, g)
		}
		warn(g.Recs[0].Name, err)
	}
	return warnings, true
}

// record records what the registry and the run directories tell of the agents that pick
// accepts by the ids of their workers.
func (c *Checker) record(ctx context.Context, teamName string, m members, pick func(id string, s team.Signs) bool) (warnings []string, err error) {
	signs := c.signs(m)
	maps.DeleteFunc(signs, func(id string, s team.Signs) bool { return !pick(id, s) })
	if len(signs) == 0 {
		return nil, nil
	}
	c.lookAtSilent(ctx, m, signs)
	err = c.opts.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		warnings, err = team.Sweep(ctx, tx, teamName, signs, time.Now())
		return err
	})
	return warnings, err
}

// lookAtSilent adds to signs what the screens of agents show that would otherwise count as
// inactive.
func (c *Checker) lookAtSilent(ctx context.Context, m members, signs map[string]team.Signs) {
	var recs []registry.Record
	for _, a := range m.agents {
		s, known := signs[a.WorkerID]
		at := registry.IndexOf(m.recs, a.WorkerID)
		if known && !s.Gone && at >= 0 && m.recs[at].IsRunning() && team.Judge(&a, s, time.Now()).Status == team.Inactive {
			recs = append(recs, m.recs[at])
		}
	}
	if recs == nil {
		return
	}
	for id, status := range c.opts.Shows(ctx, recs) {
		s := signs[id]
		s.Shows = status
		signs[id] = s
	}
}
