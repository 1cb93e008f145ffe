package hosttest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TeamName is the team of [NewWithTeam].
const TeamName = "team"

// NewWithTeam returns a host whose caller is a person who leads a team.
func NewWithTeam(t testing.TB) *Rig {
	t.Helper()
	r := New(t)
	r.SetEnv(t)
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
		_, err := team.Create(ctx, tx, team.Caller{Person: true}, team.New{Name: TeamName}, time.Now())
		return err
	})
	return r
}

// AsAgent changes the request to one for an agent of the team, whose id is "agent-" and its name.
func AsAgent(req *spawn.Request) {
	req.Agent = &team.Entry{Team: TeamName, ID: "agent-" + req.Name, Name: req.Name}
}

func (r *Rig) MustChange(t testing.TB, f func(context.Context, *registry.Tx) error) {
	t.Helper()
	if err := r.Store().Change(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// Agent returns the record of the agent of that name.
func (r *Rig) Agent(t testing.TB, name string) registry.Agent {
	t.Helper()
	var a registry.Agent
	err := r.Store().View(t.Context(), func(ctx context.Context, tx *registry.Tx) (err error) {
		a, err = tx.Agent(ctx, "agent-"+name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Token returns the token that the last worker of the agent of that name was started with.
func (r *Rig) Token(t testing.TB, name string) string {
	t.Helper()
	var token string // ids sort by time
	for _, w := range r.One.All(t) {
		if w.Spec.Name != name {
			continue
		}
		for _, kv := range w.Spec.Env {
			if value, ok := strings.CutPrefix(kv, swarm.EnvToken+"="); ok {
				token = value
			}
		}
	}
	if token == "" {
		t.Fatalf("'%s' has no token", name)
	}
	return token
}

// ClaimTask has an agent claim a new task, and returns a function that reads the task.
func (r *Rig) ClaimTask(t testing.TB, name string) func() registry.Task {
	t.Helper()
	var task registry.Task
	caller := team.Caller{Team: TeamName, Agent: "agent-" + name, Role: registry.RoleWorker}
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) (err error) {
		if task, err = team.CreateTask(ctx, tx, team.Caller{Person: true}, TeamName, team.NewTask{Title: "work"}, time.Now()); err == nil {
			task, err = team.ClaimTask(ctx, tx, caller, TeamName, team.TaskID(task.N), time.Now())
		}
		return err
	})
	return func() registry.Task {
		t.Helper()
		r.MustChange(t, func(ctx context.Context, tx *registry.Tx) (err error) {
			task, err = tx.Task(ctx, TeamName, task.N)
			return err
		})
		return task
	}
}

// Mail returns the messages to the leader since the last call.
func (r *Rig) Mail(t testing.TB) []string {
	t.Helper()
	bodies := []string{}
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
		in, err := team.Read(ctx, tx, team.Caller{Person: true}, TeamName, true, time.Now())
		for _, m := range in.Messages {
			bodies = append(bodies, m.Body)
		}
		return err
	})
	return bodies
}

// IsNotLeader reports whether the error says that only the leader may do it.
func IsNotLeader(err error) bool {
	_, refused := errors.AsType[*team.NotLeaderError](err)
	return refused
}
