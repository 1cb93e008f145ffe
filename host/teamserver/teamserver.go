// Package teamserver keeps the servers of teams while members use them: the tmux servers whose
// windows are a team's agents.
package teamserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/lockfile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

// Servers are the servers of the teams of one state directory. Its methods may be called
// concurrently. The fields are what they need.
type Servers struct {
	Dir    statedir.Dir
	Store  *store.Store
	Killer *kill.Killer
}

// Hold keeps others from stopping the server of a team until release is
// called, and from starting it too if alone. Any number of callers may hold it at the same
// time, unless one of them is alone.
func (s *Servers) Hold(ctx context.Context, teamName string, alone bool) (release func(), err error) {
	take := lockfile.Share
	if alone {
		take = lockfile.Lock
	}
	release, err = take(ctx, s.Dir.LockPath(serverLock(teamName)))
	if err != nil {
		return nil, fmt.Errorf("lock the server of team '%s': %w", teamName, err)
	}
	return release, nil
}

// serverLock is the name of the lock of a team's server. No worker's id is like it.
func serverLock(teamName string) string { return "server-" + teamName }

// StopIdle ends the servers of teams that had agents and have none any more: of one
// team, or of all teams with an empty name. A server that is held is left to its holder.
func (s *Servers) StopIdle(ctx context.Context, teamName string) error {
	var idle []string
	err := s.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		names := []string{teamName}
		if teamName == "" {
			teams, _, err := tx.Teams(ctx)
			if err != nil {
				return err
			}
			names = nil
			for _, t := range teams {
				names = append(names, t.Name)
			}
		}
		for _, name := range names {
			idleOne, err := idleServer(ctx, tx, name)
			if err != nil {
				return err
			}
			if idleOne != nil {
				idle = append(idle, name)
			}
		}
		return nil
	})
	for _, name := range idle {
		if serr := s.stop(ctx, name); serr != nil {
			err = errors.Join(err, fmt.Errorf("the server of team '%s' can't be stopped: %w", name, serr))
		}
	}
	return err
}

// idleServer returns the server of a team if it was used and no agent uses it any more,
// else nil.
func idleServer(ctx context.Context, tx *registry.Tx, teamName string) (*registry.Server, error) {
	t, err := team.Get(ctx, tx, teamName)
	if _, none := errors.AsType[*team.NoTeamError](err); none {
		return nil, nil
	}
	if err != nil || t.Server == nil || !t.Server.Used {
		return nil, err
	}
	live, err := tx.Members(ctx, teamName)
	if err != nil || len(live) > 0 {
		return nil, err
	}
	return t.Server, nil
}

func (s *Servers) stop(ctx context.Context, teamName string) error {
	release, err := s.Dir.TryLock(serverLock(teamName))
	if err != nil || release == nil {
		return err
	}
	defer release()
	var server *registry.Server
	err = s.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		server, err = idleServer(ctx, tx, teamName)
		return err
	})
	if err != nil || server == nil {
		return err
	}
	outs, err := s.Killer.Kill(ctx, worker.Selection{Names: []string{server.WorkerID}}, kill.Request{Allowed: true, Force: new(true)})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	for _, out := range outs {
		if out.Err != nil {
			return out.Err
		}
	}
	return s.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		t, err := team.Get(ctx, tx, teamName)
		if err != nil || t.Server == nil {
			return err
		}
		t.Server.Used = false
		return tx.PutTeam(ctx, &t)
	})
}
