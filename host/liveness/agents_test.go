package liveness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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

// TestAgentEnds: what the end of its worker makes of an agent, whichever call sees it.
func TestAgentEnds(t *testing.T) {
	t.Parallel()
	exit := func(e swarm.Exit) func(*testing.T, *hosttest.Rig) {
		return func(t *testing.T, r *hosttest.Rig) { r.One.End(t, "a", e) }
	}
	for what, c := range map[string]struct {
		end  func(*testing.T, *hosttest.Rig)
		want registry.AgentStatus
		said string
	}{
		"an exit":   {exit(swarm.Exit{Code: 3, Cause: swarm.CauseExited}), registry.AgentInactive, "exit status 3"},
		"exit 0":    {exit(swarm.Exit{Cause: swarm.CauseExited}), registry.AgentInactive, "exit status 0"},
		"its owner": {exit(swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseOwner}), registry.AgentTerminated, ""},
		"its shim": {func(t *testing.T, r *hosttest.Rig) {
			r.One.Change(t, "a", func(w *hosttest.Worker) { w.State = swarm.StateLost })
		}, registry.AgentInactive, "process not found"},
		"a completion": {func(t *testing.T, r *hosttest.Rig) {
			if err := r.CompleteInside(t, r.Worker(t, "a"), "all done"); err != nil {
				t.Fatal(err)
			}
		}, registry.AgentInactive, "completed: all done"},
		"a kill": {func(t *testing.T, r *hosttest.Rig) {
			r.MustKill(t, worker.Selection{Names: []string{"a"}}, kill.Request{})
		}, registry.AgentTerminated, ""},
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
					t.Errorf("the leader was notified (-want +got):\n%s", diff)
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
	if a := r.Agent(t, "a"); a.Status != registry.AgentActive || task().Owner != a.ID {
		t.Errorf("it is %s, its task is %+v", a.Status, task())
	}
	if mail := r.Mail(t); len(mail) > 0 {
		t.Errorf("the leader was notified of %q", mail)
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
					_, err := team.Release(ctx, tx, rec.Agent, team.Departure{Phase: registry.ShutdownForceKilled}, time.Now())
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
		if a.Status != registry.AgentTerminated || released > 1 {
			t.Errorf("the agent is %s, released %d times by kills", a.Status, released)
		}
		if got := task(); got.Status != registry.TaskPending || got.Owner != "" {
			t.Errorf("its task is %+v", got)
		}
		if mail := r.Mail(t); len(mail) > 1 {
			t.Errorf("the leader was notified of %q", mail)
		}
		r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
			all, err := tx.Shutdowns(ctx, hosttest.TeamName)
			all = slices.DeleteFunc(all, func(s registry.Shutdown) bool { return s.AgentID != a.ID })
			if len(all) != 1 {
				t.Errorf("%d shutdowns: %+v", len(all), all)
			}
			return err
		})
		if ends := slices.DeleteFunc(r.AllEvents(t, name), func(e registry.Event) bool { return !e.Final }); len(ends) != 1 {
			t.Errorf("ends %v", ends)
		}
	}
}
