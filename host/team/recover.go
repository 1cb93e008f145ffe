package team

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Recover enters the teams and agents that are known only from the records of their
// workers, after the registry was lost, and returns the number of agents. Known teams and
// agents are unchanged. The token of such an agent is lost, but a process in its worker
// still acts as the agent; people lead the team. Tasks of lost agents are given back.
func Recover(ctx context.Context, tx *registry.Tx, recs []registry.Record, now time.Time) (added int, err error) {
	for i := range recs {
		rec := &recs[i]
		if CheckName(rec.Team) != nil {
			continue
		}
		t := registry.Team{Name: rec.Team, Created: rec.Created}
		if err := tx.InsertTeam(ctx, &t); err != nil && !errors.Is(err, registry.ErrExists) {
			return added, err
		}
		if rec.Agent == "" {
			continue
		}
		done, err := recoverAgent(ctx, tx, rec, now)
		if err != nil {
			return added, fmt.Errorf("the agent that worker '%s' is: %w", rec.Name, err)
		}
		if done {
			added++
		}
	}
	teams, _, err := tx.Teams(ctx)
	for i := 0; i < len(teams) && err == nil; i++ {
		err = giveBackOrphans(ctx, tx, teams[i].Name, now)
	}
	return added, err
}

func giveBackOrphans(ctx context.Context, tx *registry.Tx, teamName string, now time.Time) error {
	tasks, err := tx.Tasks(ctx, registry.TaskQuery{Team: teamName, Status: registry.TaskInProgress})
	if err != nil {
		return err
	}
	for _, task := range tasks {
		if task.Owner == Leader {
			continue
		}
		a, err := live(ctx, tx, task.Owner)
		if err == nil && a.Lost.IsZero() || err != nil && !isGone(err) {
			continue // its end gives its tasks back, or it can't be read
		}
		if _, err := giveBack(ctx, tx, teamName, task.Owner, now); err != nil {
			return err
		}
	}
	return nil
}

func recoverAgent(ctx context.Context, tx *registry.Tx, rec *registry.Record, now time.Time) (bool, error) {
	all, _, err := tx.Agents(ctx, registry.AgentQuery{Team: rec.Team, Live: true})
	if err != nil {
		return false, err
	}
	a := registry.Agent{
		ID: rec.Agent, Team: rec.Team, Name: strings.TrimPrefix(rec.Name, rec.Team+"-"), Role: registry.RoleWorker,
		Session: rec.ID, Dir: rec.Dir, Status: registry.AgentActive, WorkerID: rec.ID, Worker: rec.Name,
		Created: rec.Created, Heartbeat: now, ColorUsed: now,
	}
	for _, o := range all {
		if o.Name == a.Name {
			a.Name = a.ID
		}
	}
	if CheckAgentName(a.Name) != nil {
		a.Name = a.ID
	}
	a.Color, _ = pickColor(all)
	if rec.State == registry.Stopped {
		a.Status, a.Lost, a.LastError = registry.AgentInactive, now, endText("")
		if e := rec.Exit; e != nil && (e.Cause == swarm.CauseKilled || e.Cause == swarm.CauseOwner) {
			a.Status, a.Terminated = registry.AgentTerminated, now
		}
	}
	err = tx.InsertAgent(ctx, &a)
	if errors.Is(err, registry.ErrExists) {
		return false, nil
	}
	return err == nil, err
}
