package host

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// crewRig is a host on fakes whose caller is a person, with a team "crew".
func crewRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.setEnv()
	r.change(t, func(ctx context.Context, tx *registry.Tx) error {
		_, err := team.Create(ctx, tx, team.Caller{Person: true}, team.New{Name: "crew"}, time.Now())
		return err
	})
	return r
}

func (r *rig) change(t *testing.T, f func(context.Context, *registry.Tx) error) {
	t.Helper()
	if err := r.Change(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// asAgent has a request ask for an agent of the crew, whose id is made of its name.
func asAgent(req *SpawnRequest) {
	req.Agent = &team.Joining{Team: "crew", ID: "agent-" + req.Name, Name: req.Name}
}

// token is what the agent of that name was started with last. Ids sort by time.
func (r *rig) token(t *testing.T, name string) string {
	t.Helper()
	var token string
	for _, w := range r.one.all(t) {
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

// as returns another host, whose caller has that environment.
func (r *rig) as(t *testing.T, env ...string) *rig {
	t.Helper()
	other := r.inside(t, Worker{})
	other.setEnv(env...)
	return other
}

// agent returns the agent of that name as it is recorded.
func (r *rig) agent(t *testing.T, name string) registry.Agent {
	t.Helper()
	var a registry.Agent
	err := r.View(t.Context(), func(ctx context.Context, tx *registry.Tx) (err error) {
		a, err = tx.Agent(ctx, "agent-"+name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// claim has an agent work on a new task, and returns how that task is.
func (r *rig) claim(t *testing.T, name string) func() registry.Task {
	t.Helper()
	var task registry.Task
	caller := team.Caller{Team: "crew", Agent: "agent-" + name, Role: team.RoleWorker}
	r.change(t, func(ctx context.Context, tx *registry.Tx) (err error) {
		if task, err = team.CreateTask(ctx, tx, team.Caller{Person: true}, "crew", team.NewTask{Title: "work"}, time.Now()); err == nil {
			task, err = team.ClaimTask(ctx, tx, caller, "crew", team.TaskID(task.N), time.Now())
		}
		return err
	})
	return func() registry.Task {
		t.Helper()
		r.change(t, func(ctx context.Context, tx *registry.Tx) (err error) {
			task, err = tx.Task(ctx, "crew", task.N)
			return err
		})
		return task
	}
}

// mail returns what the leader was told since the last call.
func (r *rig) mail(t *testing.T) []string {
	t.Helper()
	bodies := []string{}
	r.change(t, func(ctx context.Context, tx *registry.Tx) error {
		in, err := team.Read(ctx, tx, team.Caller{Person: true}, "crew", true, time.Now())
		for _, m := range in.Messages {
			bodies = append(bodies, m.Body)
		}
		return err
	})
	return bodies
}

// isRefused reports whether somebody was told that only the leader may.
func isRefused(err error) bool {
	_, refused := errors.AsType[*team.NotLeaderError](err)
	return refused
}

// TestViewMakesNoRegistry: what only reads leaves no trace.
func TestViewMakesNoRegistry(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	err := r.View(t.Context(), func(context.Context, *registry.Tx) error {
		t.Error("there is something to see")
		return nil
	})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want %v", err, fs.ErrNotExist)
	}
	if left := r.leftovers(t); left != nil {
		t.Errorf("it left %q", left)
	}
}
