package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
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
			if a.Status != team.Spawning {
				t.Errorf("it is %s", a.Status)
			}
			return err
		})
	}
	w := r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	a := r.Agent(t, "a")
	if a.Status != team.Active || a.WorkerID != w.ID || a.Session != w.ID || a.Worker != "a" || a.Color == "" {
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
	if _, taken := errors.AsType[*team.AgentExistsError](err); !taken {
		t.Errorf("the same name again: %v", err)
	}
	if got := r.Statuses(t); len(got) != 1 {
		t.Errorf("workers %v", got)
	}
}

// TestAgentEnds: what the end of its worker makes of an agent, whoever sees it.
func TestAgentEnds(t *testing.T) {
	t.Parallel()
	exit := func(e swarm.Exit) func(*testing.T, *hosttest.Rig) {
		return func(t *testing.T, r *hosttest.Rig) { r.One.End(t, "a", e) }
	}
	for what, c := range map[string]struct {
		end  func(*testing.T, *hosttest.Rig)
		want team.Status
		said string
	}{
		"an exit":   {exit(swarm.Exit{Code: 3, Cause: swarm.CauseExited}), team.Inactive, "exit status 3"},
		"exit 0":    {exit(swarm.Exit{Cause: swarm.CauseExited}), team.Inactive, "exit status 0"},
		"its owner": {exit(swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseOwner}), team.Terminated, ""},
		"its shim": {func(t *testing.T, r *hosttest.Rig) {
			r.One.Change(t, "a", func(w *hosttest.Worker) { w.State = swarm.StateLost })
		}, team.Inactive, "process not found"},
		"a completion": {func(t *testing.T, r *hosttest.Rig) {
			if err := r.CompleteInside(t, r.Worker(t, "a"), "all done"); err != nil {
				t.Fatal(err)
			}
		}, team.Inactive, "completed: all done"},
		"a kill": {func(t *testing.T, r *hosttest.Rig) {
			r.MustKill(t, worker.Selection{Names: []string{"a"}}, kill.Request{})
		}, team.Terminated, ""},
	} {
		for see, seen := range map[string]func(*testing.T, *hosttest.Rig) error{
			"gc": func(t *testing.T, r *hosttest.Rig) error {
				_, err := r.Watch().Collect(t.Context())
				return err
			},
			"a call of the team": func(t *testing.T, r *hosttest.Rig) error {
				_, err := r.Sweeper().Sweep(t.Context(), hosttest.TeamName)
				return err
			},
			"a spawn": func(t *testing.T, r *hosttest.Rig) error {
				_, err := r.Spawn().Spawn(t.Context(), r.Request("other", "one"))
				return err
			},
		} {
			t.Run(what+", "+see, func(t *testing.T) {
				t.Parallel()
				r := hosttest.NewWithTeam(t)
				r.MustSpawn(t, "a", "one", hosttest.AsAgent)
				task := r.ClaimTask(t, "a")
				c.end(t, r)
				for range 2 {
					if err := seen(t, r); err != nil {
						t.Fatal(err)
					}
					seen = func(t *testing.T, r *hosttest.Rig) error {
						_, err := r.Sweeper().Sweep(t.Context(), "")
						return err
					}
				}
				if a := r.Agent(t, "a"); a.Status != c.want {
					t.Errorf("the agent is %s, want %s", a.Status, c.want)
				}
				if got := task(); got.Status != registry.TaskPending || got.Owner != "" {
					t.Errorf("its task is %+v", got)
				}
				want := []string{}
				if c.said != "" {
					want = []string{"Agent a (agent-a) became inactive: " + c.said + ". Tasks reassigned: task-1."}
				}
				if diff := cmp.Diff(want, r.Mail(t)); diff != "" {
					t.Errorf("the leader was told (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestSweepInRespawn: who looks between the end of an agent's worker and its new
// start must not take the agent for lost.
func TestSweepInRespawn(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	old := r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	task := r.ClaimTask(t, "a")
	// It is held up where it has killed the worker.
	unlock, err := r.StateDir().Lock(t.Context(), old.ID)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	other := r.WithEnv(t)
	go func() {
		_, err := r.Spawn().Respawn(t.Context(), "a", spawn.RespawnRequest{})
		done <- err
	}()
	err = other.Store().AwaitChange(t.Context(), func(context.Context) (bool, error) {
		return other.Record(t, "a").State == registry.Stopped, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if signs, err := other.Liveness().Signs(t.Context(), hosttest.TeamName); err != nil || len(signs) > 0 {
		t.Errorf("signs %+v, %v", signs, err)
	}
	if warnings, err := other.Sweeper().Sweep(t.Context(), hosttest.TeamName); err != nil || len(warnings) > 0 {
		t.Error(warnings, err)
	}
	unlock()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if a := r.Agent(t, "a"); a.Status != team.Active || task().Owner != a.ID {
		t.Errorf("it is %s, its task is %+v", a.Status, task())
	}
	if mail := r.Mail(t); len(mail) > 0 {
		t.Errorf("the leader was told %q", mail)
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
	if w.ID == old.ID || w.Team != hosttest.TeamName || w.Agent != "agent-a" || a.Status != team.Active || a.WorkerID != w.ID ||
		a.Session != w.ID || a.TokenHash == before.TokenHash || a.Color != before.Color {
		t.Errorf("the worker %+v of the agent %+v", w, a)
	}
	if got := task(); got.Owner != "agent-a" {
		t.Errorf("its task is %+v", got)
	}
	if mail := r.Mail(t); len(mail) > 0 {
		t.Errorf("the leader was told %q", mail)
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
	if a := r.Agent(t, "a"); a.Status != team.Inactive || a.WorkerID != w.ID || a.Lost.IsZero() {
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
	if a := r.Agent(t, "a"); a.Status != team.Active || !a.Lost.IsZero() {
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

// TestKillRecorded: who kills can do more in the change that records the end, once
// for each worker, also for one that had ended.
func TestKillRecorded(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	r.MustSpawn(t, "b", "one", hosttest.AsAgent)
	r.MustSpawn(t, "far", "two", hosttest.Ephemeral)
	r.One.End(t, "b", swarm.Exit{Cause: swarm.CauseExited})
	if _, err := r.Watch().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	var names []string
	r.MustKill(t, worker.Selection{All: true}, kill.Request{Recorded: func(ctx context.Context, tx *registry.Tx, rec registry.Record) error {
		names = append(names, rec.Name)
		if rec.Agent == "" {
			return nil
		}
		_, err := team.Release(ctx, tx, rec.Agent, team.Leaving{Phase: team.Confirmed}, time.Now())
		return err
	}})
	slices.Sort(names)
	if diff := cmp.Diff([]string{"a", "b", "far"}, names); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"a", "b"} {
		if a := r.Agent(t, name); a.Status != team.Terminated || a.LastError != "" && name == "a" {
			t.Errorf("the agent is %+v", a)
		}
	}

	// A failure undoes the record of the end, which the next call writes.
	r.MustSpawn(t, "c", "one", hosttest.AsAgent)
	out := r.MustKill(t, worker.Selection{Names: []string{"c"}}, kill.Request{Recorded: func(context.Context, *registry.Tx, registry.Record) error {
		return errors.New("no")
	}})
	if out[0].Err != nil || len(out[0].Warnings) != 1 || r.Record(t, "c").State != registry.Running {
		t.Errorf("%+v", out)
	}
	if _, err := r.Sweeper().Sweep(t.Context(), hosttest.TeamName); err != nil {
		t.Fatal(err)
	}
	if a := r.Agent(t, "c"); a.Status != team.Terminated {
		t.Errorf("the agent is %+v", a)
	}
}

// TestAgentIsReleasedOnce: kills, an exit and sweeps of several hosts at once.
func TestAgentIsReleasedOnce(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	hosts := []*hosttest.Rig{r.WithEnv(t), r.WithEnv(t), r.WithEnv(t), r.WithEnv(t)}
	for i := range 15 {
		name := fmt.Sprintf("a%d", i)
		r.MustSpawn(t, name, "one", hosttest.AsAgent)
		task := r.ClaimTask(t, name)
		var wg sync.WaitGroup
		var mu sync.Mutex
		released := 0
		kill := func(h *hosttest.Rig) {
			_, err := h.Kill().Kill(t.Context(), worker.Selection{Names: []string{name}}, kill.Request{
				Recorded: func(ctx context.Context, tx *registry.Tx, rec registry.Record) error {
					_, err := team.Release(ctx, tx, rec.Agent, team.Leaving{Phase: team.ForceKilled}, time.Now())
					if _, over := errors.AsType[*team.TerminatedError](err); over {
						return nil
					}
					mu.Lock()
					defer mu.Unlock()
					released++
					return err
				},
			})
			if err != nil {
				t.Error(err)
			}
		}
		sweep := func(h *hosttest.Rig) {
			if _, err := h.Sweeper().Sweep(t.Context(), ""); err != nil {
				t.Error(err)
			}
		}
		wg.Go(func() { kill(hosts[0]) })
		wg.Go(func() { kill(hosts[1]) })
		wg.Go(func() { sweep(hosts[2]) })
		wg.Go(func() { r.One.End(t, name, swarm.Exit{Code: 1, Cause: swarm.CauseExited}) })
		wg.Go(func() {
			if _, err := hosts[3].Watch().Collect(t.Context()); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		a := r.Agent(t, name)
		if a.Status != team.Terminated || released > 1 {
			t.Errorf("the agent is %s, released %d times by kills", a.Status, released)
		}
		if got := task(); got.Status != registry.TaskPending || got.Owner != "" {
			t.Errorf("its task is %+v", got)
		}
		if mail := r.Mail(t); len(mail) > 1 {
			t.Errorf("the leader was told %q", mail)
		}
		r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
			all, err := tx.Shutdowns(ctx, hosttest.TeamName)
			all = slices.DeleteFunc(all, func(s registry.Shutdown) bool { return s.AgentID != a.ID })
			if len(all) != 1 {
				t.Errorf("%d shutdowns: %+v", len(all), all)
			}
			return err
		})
		if ends := slices.DeleteFunc(r.AllEvents(t, name), func(e history.Event) bool { return !e.Final }); len(ends) != 1 {
			t.Errorf("ends %v", ends)
		}
	}
}
