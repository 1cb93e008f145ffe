package team

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestRecover(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "known")
	known := q.agent("known")
	rec := func(id, name, team, agent string, state registry.State, cause swarm.Cause) registry.Record {
		r := registry.Record{Spec: registry.Spec{ID: id, Name: name, Team: team, Agent: agent, Dir: "/d", Created: now}, State: state}
		if cause != "" {
			r.Exit = &swarm.Exit{Cause: cause}
		}
		return r
	}
	recs := []registry.Record{
		rec("w-known", "red-known", crewTeam, "agent-known", registry.Running, ""),
		rec("w-lost", "red-lost", crewTeam, "agent-lost", registry.Stopped, swarm.CauseExited),
		rec("w-over", "red-over", crewTeam, "agent-over", registry.Stopped, swarm.CauseKilled),
		rec("w1", "blue-a", "blue", "agent-1", registry.Running, ""),
		rec("w2", "blue-b", "blue", "agent-2", registry.Stopped, swarm.CauseExited),
		rec("w3", "blue-c", "blue", "agent-3", registry.Stopped, swarm.CauseKilled),
		rec("w4", "other", "blue", "agent-4", registry.Running, ""),
		rec("w5", "blue-all", "blue", "agent-5", registry.Running, ""),
		rec("w6", "blue-a", "blue", "agent-6", registry.Running, ""),
		rec("w7", "server", "green", "", registry.Running, ""),
		rec("w8", "plain", "", "", registry.Running, ""),
		rec("w9", "bad", "a/b", "agent-9", registry.Running, ""),
	}
	var tasks []string
	for _, owner := range []string{Leader, "agent-known", "agent-ghost", "agent-lost", "agent-over"} {
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			task := registry.Task{Team: crewTeam, Title: "t", Priority: registry.PriorityNormal, Status: registry.TaskInProgress, Owner: owner}
			err := tx.AddTask(ctx, &task)
			tasks = append(tasks, TaskID(task.N))
			return err
		})
	}
	for i, want := range []int{8, 0} {
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			n, err := Recover(ctx, tx, recs, later)
			if n != want {
				t.Errorf("%d: %d agents, want %d", i, n, want)
			}
			return err
		})
	}
	for i, want := range []string{Leader, "agent-known", "", "", ""} {
		if got := q.task(tasks[i]); got.Owner != want || (got.Status == registry.TaskPending) != (want == "") {
			t.Errorf("task %+v, want it with %q", got, want)
		}
	}
	if diff := cmp.Diff(known, q.agent("known")); diff != "" {
		t.Errorf("one that was known (-want +got):\n%s", diff)
	}
	agent := func(n int, name string, edit func(*registry.Agent)) registry.Agent {
		id := string(rune('0' + n))
		a := registry.Agent{
			Seq: int64(n + 3), ID: "agent-" + id, Team: "blue", Name: name, Role: registry.RoleWorker, Color: colors[n-1], Session: "w" + id, Dir: "/d",
			Status: registry.AgentActive, WorkerID: "w" + id, Worker: "blue-" + name, Created: now, Heartbeat: later, ColorUsed: later,
		}
		edit(&a)
		return a
	}
	want := []registry.Agent{
		agent(1, "a", func(*registry.Agent) {}),
		agent(2, "b", func(a *registry.Agent) {
			a.Status, a.Lost, a.LastError = registry.AgentInactive, later, "its process ended"
		}),
		agent(3, "c", func(a *registry.Agent) {
			a.Status, a.Lost, a.Terminated, a.LastError = registry.AgentTerminated, later, later, "its process ended"
		}),
		agent(4, "other", func(a *registry.Agent) { a.Worker, a.Color = "other", colors[2] }),
		agent(5, "agent-5", func(a *registry.Agent) { a.Worker, a.Color = "blue-all", colors[3] }),
		agent(6, "agent-6", func(a *registry.Agent) { a.Worker, a.Color = "blue-a", colors[4] }),
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		got, _, err := tx.Agents(ctx, registry.AgentQuery{Team: "blue"})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("agents (-want +got):\n%s", diff)
		}
		teams, _, terr := tx.Teams(ctx)
		wantTeams := []registry.Team{{Name: "blue", Created: now}, {Name: "green", Created: now}, {Name: crewTeam, Created: now}}
		if diff := cmp.Diff(wantTeams, teams); diff != "" {
			t.Errorf("teams (-want +got):\n%s", diff)
		}
		if terr != nil {
			return terr
		}
		return err
	})
	// The identity in the worker is unchanged.
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		caller, err := ByWorker(ctx, tx, "w1")
		if caller.Agent != "agent-1" || caller.Person {
			t.Errorf("%+v", caller)
		}
		return err
	})
	q.sweep("blue", map[string]Signs{"w1": {}}, later.Add(time.Second))
}
