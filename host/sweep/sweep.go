// Package sweep records which agents of teams have ended or are silent. It ends no agent and
// checks no rights.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/liveness"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/teamserver"
)

// Sweeper records the ends and the silence of the agents of one state directory. Its methods may
// be called concurrently. Its fields are what it needs.
type Sweeper struct {
	Dir      statedir.Dir
	Store    *store.Store
	Plugins  *backend.Plugins
	History  *history.History
	Settler  *settle.Settler
	Liveness *liveness.Checker
	Display  *display.Reader
	Servers  *teamserver.Servers
}

// Sweep records what has become of the agents of a team, or of all teams with an empty
// name, since the last sweep: ended processes and silence. It stops servers without users.
// Failures are in warnings. The ids in living are those of workers whose agents call at
// this moment: they are not silent.
//
// Without agents it reads once and changes nothing.
func (s *Sweeper) Sweep(ctx context.Context, teamName string, living ...string) (warnings []string, err error) {
	m, err := s.Liveness.Members(ctx, teamName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(m.Agents) > 0 {
		failed, stale := s.catchUp(ctx, m)
		warnings = append(m.Warnings, failed...)
		if stale {
			if m, err = s.Liveness.Members(ctx, teamName); err != nil {
				return warnings, err
			}
		}
		signs := s.Liveness.SignsOf(m)
		maps.DeleteFunc(signs, func(id string, signs team.Signs) bool { return !signs.Gone && slices.Contains(living, id) })
		s.lookAtSilent(ctx, m, signs)
		more, err := s.Liveness.Record(ctx, teamName, signs)
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, more...)
	}
	if err := s.Servers.StopIdle(ctx, teamName); err != nil {
		warnings = append(warnings, err.Error())
	}
	return warnings, ctx.Err()
}

// catchUp records the ends of the workers of agents, and settles those whose spawn was
// interrupted. It reports whether m may be stale after that.
func (s *Sweeper) catchUp(ctx context.Context, m liveness.Members) (warnings []string, stale bool) {
	warn := func(name string, err error) {
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			warnings = append(warnings, fmt.Sprintf("cannot get the status of '%s': %v", name, err))
		}
	}
	for _, r := range m.Records {
		if r.State == registry.Starting && !s.Dir.Locked(r.ID) {
			_, err := s.Settler.Settled(ctx, r)
			warn(r.Name, err)
			stale = true
		}
	}
	gs := s.Plugins.Groups(m.Records, func(r registry.Record) bool { return r.IsRunning() && s.History.Stale(&r) })
	if len(gs) == 0 {
		return warnings, stale
	}
	reg, err := s.Store.ToWrite(ctx)
	for _, g := range gs {
		if err == nil {
			_, err = s.History.CatchUp(ctx, reg, g)
		}
		warn(g.Recs[0].Name, err)
	}
	return warnings, true
}

// lookAtSilent adds to signs what the screens of agents show that would otherwise count as
// inactive.
func (s *Sweeper) lookAtSilent(ctx context.Context, m liveness.Members, signs map[string]team.Signs) {
	var recs []registry.Record
	for _, a := range m.Agents {
		sign, known := signs[a.WorkerID]
		at := registry.IndexOf(m.Records, a.WorkerID)
		if known && !sign.Gone && at >= 0 && m.Records[at].IsRunning() && team.Judge(&a, sign, time.Now()).Status == registry.AgentInactive {
			recs = append(recs, m.Records[at])
		}
	}
	if recs == nil {
		return
	}
	for id, status := range s.Display.Shows(ctx, recs) {
		sign := signs[id]
		sign.Shows = status
		signs[id] = sign
	}
}
