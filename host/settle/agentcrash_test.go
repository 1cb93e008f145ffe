package settle_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// settlings are calls after which what a crash left of an agent is as it should be.
func settlings() map[string]func(context.Context, *hosttest.Rig) error {
	return map[string]func(context.Context, *hosttest.Rig) error{
		"spawn": func(ctx context.Context, r *hosttest.Rig) error {
			_, err := r.Spawn().Spawn(ctx, r.Request("other", "one"))
			return err
		},
		"kill": func(ctx context.Context, r *hosttest.Rig) error {
			_, err := r.Spawn().Spawn(ctx, r.Request("other", "one"))
			if err == nil {
				_, err = r.Kill().Kill(ctx, worker.Selection{Names: []string{"other"}}, kill.Request{})
			}
			return err
		},
		"gc": func(ctx context.Context, r *hosttest.Rig) error {
			_, err := r.Watch().Collect(ctx)
			return err
		},
		"a call of the team": func(ctx context.Context, r *hosttest.Rig) error {
			_, err := r.Sweeper().Sweep(ctx, hosttest.TeamName)
			return err
		},
	}
}

// agrees fails the test unless the agent is as its worker is.
func agrees(t *testing.T, r *hosttest.Rig, name string) registry.Agent {
	t.Helper()
	a, rec := r.Agent(t, name), r.Record(t, name)
	want := map[registry.State]registry.AgentStatus{registry.Running: registry.AgentActive, registry.Stopped: registry.AgentInactive}[rec.State]
	if a.Status != want || a.WorkerID != rec.ID || rec.Agent != a.ID || rec.Team != a.Team {
		t.Errorf("the worker %s is %s, the agent %+v", rec.ID, rec.State, a)
	}
	return a
}

// TestCrashInSpawnOfAgent: wherever the spawn of an agent is killed, its row and the
// record of its worker say the same after the next change.
func TestCrashInSpawnOfAgent(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"workspace", "before", "after"} {
		for how, settle := range settlings() {
			t.Run(step+", "+how, func(t *testing.T) {
				t.Parallel()
				r := hosttest.NewWithTeam(t)
				hosttest.CrashAt(t, r.Root, step, "HOST_TEST_AGENT=1")
				if a := r.Agent(t, "w1"); a.Status != registry.AgentSpawning {
					t.Errorf("after the crash it is %s", a.Status)
				}
				if err := settle(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				a := agrees(t, r, "w1")
				want := []string{}
				if step != "after" {
					want = []string{"Agent w1 (agent-w1) became inactive: spawn was interrupted. Tasks reassigned: none."}
				}
				if diff := cmp.Diff(want, r.Mail(t)); diff != "" {
					t.Errorf("the leader was notified (-want +got):\n%s", diff)
				}
				if (a.Status == registry.AgentActive) != (step == "after") {
					t.Errorf("it is %s", a.Status)
				}
				// It can be started again, with a token that counts.
				r.MustRespawn(t, "w1")
				agrees(t, r, "w1")
				if c, err := r.WithEnv(t, "SWARM_TOKEN="+r.Token(t, "w1")).Callers().Caller(t.Context()); err != nil || c.Agent != "agent-w1" {
					t.Errorf("its caller is %+v, %v", c, err)
				}
			})
		}
	}
}

// TestCrashInRespawnOfAgent is as TestCrashInSpawnOfAgent, for a respawn.
func TestCrashInRespawnOfAgent(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"asked", "killed", "before", "after"} {
		for how, settle := range settlings() {
			t.Run(step+", "+how, func(t *testing.T) {
				t.Parallel()
				r := hosttest.NewWithTeam(t)
				r.MustSpawn(t, "w1", "one", hosttest.AsAgent)
				task := r.ClaimTask(t, "w1")
				switch step {
				case "asked":
					// Its shim ends it, but no caller waits for that any more.
					reg, err := r.Store().ToWrite(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if err := reg.Edit(t.Context(), r.Record(t, "w1").ID, func(rec *registry.Record) { rec.Step = registry.StepRespawning }); err != nil {
						t.Fatal(err)
					}
					r.One.End(t, "w1", swarm.Exit{Code: -1, Signal: "SIGTERM", Cause: swarm.CauseKilled})
				case "killed":
					r.Kill().EndForRespawn(t.Context(), r.Record(t, "w1"), nil)
					if a := r.Agent(t, "w1"); a.Status != registry.AgentActive {
						t.Errorf("while it is respawned it is %s", a.Status)
					}
				default:
					hosttest.CrashAt(t, r.Root, hosttest.StepRespawn+step, "HOST_TEST_AGENT=1")
					if a := r.Agent(t, "w1"); a.Status != registry.AgentSpawning {
						t.Errorf("after the crash it is %s", a.Status)
					}
				}
				if err := settle(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				a := agrees(t, r, "w1")
				if alive := step == "after"; alive != (a.Status == registry.AgentActive) || alive != (task().Owner != "") || alive != (len(r.Mail(t)) == 0) {
					t.Errorf("it is %s, its task is %+v", a.Status, task())
				}
				r.MustRespawn(t, "w1")
				agrees(t, r, "w1")
			})
		}
	}
}
