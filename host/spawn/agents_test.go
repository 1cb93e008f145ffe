package spawn_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestAgentCallsBeforeItIsRecorded: the worker may be quicker than its spawn.
func TestAgentCallsBeforeItIsRecorded(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	r.One.BeforeSpawn = func(ctx context.Context, spec swarm.Spec) error {
		var env []string
		for _, kv := range spec.Env {
			if strings.HasPrefix(kv, swarm.EnvToken+"=") {
				env = append(env, kv)
			}
		}
		in := r.WithEnv(t, env...)
		caller, err := in.Callers().Caller(ctx)
		if err != nil || caller.Agent != "agent-a" {
			t.Errorf("it is %+v, %v", caller, err)
		}
		return in.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
			a, err := team.Beat(ctx, tx, caller, hosttest.TeamName, "", "", time.Now())
			if a.Status != registry.AgentSpawning {
				t.Errorf("it is %s", a.Status)
			}
			return err
		})
	}
	w := r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	a := r.Agent(t, "a")
	if a.Status != registry.AgentActive || a.WorkerID != w.ID || a.Session != w.ID || a.Worker != "a" || a.Color == "" {
		t.Errorf("the agent is %+v", a)
	}
	if w.Team != hosttest.TeamName || w.Agent != "agent-a" {
		t.Errorf("the worker is %+v", w)
	}
}

// TestAgentSpawnThatFails leaves no agent, and what it did meanwhile undone.
func TestAgentSpawnThatFails(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	var task func() registry.Task
	for what, fail := range map[string]func(*spawn.Request){
		"in the backend": func(*spawn.Request) {
			r.One.AfterSpawn = func(context.Context, swarm.Spec) error {
				task = r.ClaimTask(t, "a")
				return swarm.ErrUnavailable
			}
		},
		"no such team":    func(q *spawn.Request) { q.Agent.Team = "ghosts" },
		"a reserved name": func(q *spawn.Request) { q.Agent.Name = "leader" },
		"no id":           func(q *spawn.Request) { q.Agent.ID = "" },
		"another team":    func(q *spawn.Request) { q.Team = "ghosts" },
		"no team at all":  func(q *spawn.Request) { q.Agent, q.Team = nil, "ghosts" },
	} {
		req := r.Request("a", "one")
		hosttest.AsAgent(&req)
		r.One.AfterSpawn = nil
		fail(&req)
		if _, err := r.Spawn().Spawn(t.Context(), req); err == nil {
			t.Errorf("%s: it was spawned", what)
		}
	}
	if got := task(); got.Status != registry.TaskPending || got.Owner != "" {
		t.Errorf("its task is %+v", got)
	}
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
		agents, _, err := tx.Agents(ctx, registry.AgentQuery{})
		if len(agents) > 0 {
			t.Errorf("agents %+v", agents)
		}
		return err
	})
	// The names are free again.
	r.One.AfterSpawn = nil
	for _, w := range r.One.All(t) {
		if err := os.Remove(r.One.Path(w.ID)); err != nil {
			t.Fatal(err)
		}
	}
	r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	again := r.Request("b", "one")
	hosttest.AsAgent(&again)
	again.Agent.Name = "a"
	_, err := r.Spawn().Spawn(t.Context(), again)
	if !errors.Is(err, team.ErrName) {
		t.Errorf("the same name again: %v", err)
	}
	if got := r.Statuses(t); len(got) != 1 {
		t.Errorf("workers %v", got)
	}
}

// TestAgentRespawn: the agent is the same, and has what it had.
func TestAgentRespawn(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	old := r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	task := r.ClaimTask(t, "a")
	before := r.Agent(t, "a")
	w := r.MustRespawn(t, "a")
	a := r.Agent(t, "a")
	if w.ID == old.ID || w.Team != hosttest.TeamName || w.Agent != "agent-a" || a.Status != registry.AgentActive || a.WorkerID != w.ID ||
		a.Session != w.ID || a.TokenHash == before.TokenHash || a.Color != before.Color {
		t.Errorf("the worker %+v of the agent %+v", w, a)
	}
	if got := task(); got.Owner != "agent-a" {
		t.Errorf("its task is %+v", got)
	}
	if mail := r.Mail(t); len(mail) > 0 {
		t.Errorf("the leader was notified of %q", mail)
	}
	as := r.Request("a", "one")
	if _, err := r.Spawn().Respawn(t.Context(), "a", spawn.RespawnRequest{As: &as}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("as something else: %v", err)
	}

	// One that can't be started again is lost.
	r.One.BeforeSpawn = hosttest.FailOnce(errors.New("no"))
	if _, err := r.Spawn().Respawn(t.Context(), "a", spawn.RespawnRequest{}); err == nil {
		t.Error("it was respawned")
	}
	if a := r.Agent(t, "a"); a.Status != registry.AgentInactive || a.WorkerID != w.ID || a.Lost.IsZero() {
		t.Errorf("the agent is %+v", a)
	}
	if got := task(); got.Status != registry.TaskPending {
		t.Errorf("its task is %+v", got)
	}
	if diff := cmp.Diff([]string{"Agent a (agent-a) became inactive: it could not be respawned. Tasks reassigned: task-1."}, r.Mail(t)); diff != "" {
		t.Error(diff)
	}
	// It can be started again all the same, until it is terminated.
	r.MustRespawn(t, "a")
	if a := r.Agent(t, "a"); a.Status != registry.AgentActive || !a.Lost.IsZero() {
		t.Errorf("the agent is %+v", a)
	}
	r.MustKill(t, worker.Selection{Names: []string{"a"}}, kill.Request{})
	kills := len(r.One.Kills["a"])
	_, err := r.Spawn().Respawn(t.Context(), "a", spawn.RespawnRequest{})
	if _, over := errors.AsType[*team.TerminatedError](err); !over || len(r.One.Kills["a"]) != kills {
		t.Errorf("once it was terminated: %v", err)
	}
	if len(r.One.Alive(t)) > 0 {
		t.Errorf("alive: %q", r.One.Alive(t))
	}
}
