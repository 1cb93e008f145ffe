package liveness

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// EndGone records the ends of agents whose workers are gone, but for those of the
// workers that the call is about. It asks no backend.
func (c *Checker) EndGone(ctx context.Context, busy func(id string) bool) error {
	m, err := c.Members(ctx, "")
	if err != nil {
		return err
	}
	signs := c.SignsOf(m)
	maps.DeleteFunc(signs, func(id string, s team.Signs) bool { return !s.Gone || busy(id) })
	_, err = c.Record(ctx, "", signs)
	return err
}

// Record records what the signs, by the ids of workers, mean for the agents of a team, or of all
// teams with an empty name.
func (c *Checker) Record(ctx context.Context, teamName string, signs map[string]team.Signs) (warnings []string, err error) {
	if len(signs) == 0 {
		return nil, nil
	}
	err = c.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		warnings, err = team.Sweep(ctx, tx, teamName, signs, time.Now())
		return err
	})
	return warnings, err
}

// Any reports whether there is anything to sweep: an agent that is not terminated, or
// the server of a team that agents used.
func (c *Checker) Any(ctx context.Context) (live bool, err error) {
	err = c.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
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
	m, err := c.Members(ctx, teamName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	signs := c.SignsOf(m)
	stale := func(r registry.Record) bool { return r.IsRunning() && c.History.Stale(&r) }
	for _, g := range c.Plugins.Groups(m.Records, stale) {
		for i, s := range c.Plugins.Statuses(ctx, g) {
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

// Members are the agents of a team that are not terminated, and the records of their
// workers. Warnings name what can't be read.
type Members struct {
	Agents   []registry.Agent
	Records  []registry.Record
	Warnings []string
}

// Members reads the agents of a team, or of all teams with an empty name. Without a registry it
// returns [fs.ErrNotExist].
func (c *Checker) Members(ctx context.Context, teamName string) (m Members, err error) {
	err = c.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		m.Agents, m.Warnings, err = tx.Agents(ctx, registry.AgentQuery{Team: teamName, Live: true})
		if err != nil || len(m.Agents) == 0 {
			return err
		}
		ids := make([]string, len(m.Agents))
		for i, a := range m.Agents {
			ids[i] = a.WorkerID
		}
		var more []string
		m.Records, more, err = tx.Read(ctx, registry.Query{Names: ids})
		m.Warnings = append(m.Warnings, more...)
		return err
	})
	return m, err
}

// SignsOf returns what the registry and the run directories have about the workers of agents, by
// the workers' ids. It asks no backend.
func (c *Checker) SignsOf(m Members) map[string]team.Signs {
	signs := make(map[string]team.Signs, len(m.Agents))
	for _, a := range m.Agents {
		at := registry.IndexOf(m.Records, a.WorkerID)
		switch {
		case at < 0 && len(m.Warnings) > 0:
			// Its record may be the one that can't be read.
		case at >= 0 && m.Records[at].State != registry.Stopped:
			signs[a.WorkerID] = team.Signs{Output: c.Dir.LastOutput(a.WorkerID)}
		case c.Dir.Locked(statedir.RespawnLock(a.WorkerID)):
			// It is being replaced.
		case at < 0:
			signs[a.WorkerID] = team.Signs{Gone: true, Reason: "its worker was removed"}
		default:
			r := &m.Records[at]
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
