package roster_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// harms are all ways to harm a worker of a team.
func harms(r *hosttest.Rig, t *testing.T) map[string]func(name string) error {
	t.Helper()
	ctx := t.Context()
	send := func(in swarm.Input) func(string) error {
		return func(name string) error {
			_, err := r.Input().Send(ctx, worker.Selection{Names: []string{name}}, in)
			return err
		}
	}
	return map[string]func(name string) error{
		"kill": func(name string) error {
			_, err := r.Kill().Kill(ctx, worker.Selection{Names: []string{"plain", name}}, kill.Request{})
			return err
		},
		"kill by tag": func(string) error {
			_, err := r.Kill().Kill(ctx, worker.Selection{Tag: "t"}, kill.Request{})
			return err
		},
		"kill all": func(string) error {
			_, err := r.Kill().Kill(ctx, worker.Selection{All: true}, kill.Request{})
			return err
		},
		"respawn": func(name string) error {
			_, err := r.Spawn().Respawn(ctx, name, spawn.RespawnRequest{})
			return err
		},
		"signal": func(name string) error {
			_, err := r.Input().Signal(ctx, name, input.SignalRequest{Signal: "USR1"})
			return err
		},
		"attach": func(name string) error {
			_, err := r.Input().Attach(ctx, name, false)
			return err
		},
		"exec": func(name string) error {
			_, err := r.Input().Exec(ctx, name, swarm.ExecOptions{Command: []string{"true"}})
			return err
		},
		"interrupt":     send(swarm.Input{Kind: swarm.InputInterrupt}),
		"eof":           send(swarm.Input{Kind: swarm.InputEOF}),
		"interrupt key": send(swarm.Input{Data: []byte("stop\x03")}),
		"clean": func(name string) error {
			_, err := r.Kill().Clean(ctx, worker.Selection{Names: []string{name}}, kill.CleanRequest{})
			return err
		},
		"clean all": func(string) error {
			_, err := r.Kill().Clean(ctx, worker.Selection{All: true}, kill.CleanRequest{})
			return err
		},
	}
}

// TestOnlyTheLeaderHarms: whatever one without the right tries, nothing is touched.
func TestOnlyTheLeaderHarms(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	r.Announce("one", swarm.CapInput, swarm.CapSignal, swarm.CapStdin)
	tagged := func(q *spawn.Request) { q.Tags, q.Stdin = []string{"t"}, true }
	plain := r.MustSpawn(t, "plain", "one", tagged)
	mate := r.MustSpawn(t, "mate", "one", hosttest.AsAgent, tagged)
	me := r.MustSpawn(t, "me", "one", hosttest.AsAgent, tagged)
	r.MustSpawn(t, "server", "one", tagged, func(q *spawn.Request) { q.Team = hosttest.TeamName })
	history := r.HistoryLines(t, "")
	for who, env := range map[string][]string{
		"a team-mate":               {swarm.EnvToken + "=" + r.Token(t, "me")},
		"one without a token":       {swarm.EnvWorkerID + "=" + me.ID},
		"one of no team":            {swarm.EnvWorkerID + "=" + plain.ID},
		"one of another directory":  {swarm.EnvWorkerID + "=0123456789abcdef"},
		"one with an unknown token": {swarm.EnvToken + "=x", swarm.EnvWorkerID + "=" + plain.ID},
	} {
		in := r.WithEnv(t, env...)
		for how, harm := range harms(in, t) {
			for _, name := range []string{"mate", mate.ID, "server", "me"} {
				err := harm(name)
				if !hosttest.IsNotLeader(err) && !errors.Is(err, team.ErrUnknownToken) {
					t.Errorf("%s, %s of %s: %v", who, how, name, err)
				}
			}
		}
	}
	if len(r.One.Kills) > 0 || len(r.One.Inputs) > 0 || len(r.One.Signals) > 0 {
		t.Errorf("the backend was asked for %v, %v, %v", r.One.Kills, r.One.Inputs, r.One.Signals)
	}
	if diff := cmp.Diff(history, r.HistoryLines(t, "")); diff != "" {
		t.Errorf("history (-before +after):\n%s", diff)
	}

	// Input does no harm, and everyone may use workers without a team.
	in := r.WithEnv(t, swarm.EnvToken+"="+r.Token(t, "me"))
	if outs, err := in.Input().Send(t.Context(), worker.Selection{Names: []string{"mate"}}, swarm.Input{Data: []byte("hi")}); err != nil || errorOfSent(outs) != nil {
		t.Errorf("send: %v, %v", outs, err)
	}
	if outs := in.MustKill(t, worker.Selection{Names: []string{"plain"}}, kill.Request{}); outs[0].Err != nil {
		t.Errorf("kill of a plain worker: %v", outs[0].Err)
	}
	if outs := in.MustKill(t, worker.Selection{Names: []string{"mate"}}, kill.Request{Allowed: true}); outs[0].Err != nil {
		t.Errorf("a kill that is allowed: %v", outs[0].Err)
	}
}

func errorOfSent(outs []input.Outcome) error {
	var err error
	for _, out := range outs {
		err = errors.Join(err, out.Err)
	}
	return err
}

// TestLeadersHarm: who leads may.
func TestLeadersHarm(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	r.Announce("one", swarm.CapInput, swarm.CapSignal, swarm.CapStdin)
	boss := r.MustSpawn(t, "boss", "one")
	r.MustChange(t, leads(hosttest.TeamName, boss.ID))
	lead := r.MustSpawn(t, "lead", "one", hosttest.AsAgent, func(q *spawn.Request) { q.Agent.Role = registry.RoleLeader })
	for name, env := range map[string][]string{
		"of-a-person":       nil,
		"of-the-boss":       {swarm.EnvWorkerID + "=" + boss.ID},
		"of-a-leader-agent": {swarm.EnvToken + "=" + r.Token(t, lead.Name)},
	} {
		r.MustSpawn(t, name, "one", hosttest.AsAgent, func(q *spawn.Request) { q.Stdin = true })
		in := r.WithEnv(t, env...)
		all := harms(in, t)
		for _, how := range []string{"interrupt", "eof", "interrupt key", "signal", "respawn"} {
			if err := all[how](name); err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
		if out := in.MustKill(t, worker.Selection{Names: []string{name}}, kill.Request{}); out[0].Err != nil {
			t.Errorf("%s, kill: %v", name, out[0].Err)
		}
		if out, err := in.Kill().Clean(t.Context(), worker.Selection{Names: []string{name}}, kill.CleanRequest{}); err != nil || out[0].Err != nil {
			t.Errorf("%s, clean: %v, %v", name, out, err)
		}
		if a := r.Agent(t, name); a.Status != registry.AgentTerminated {
			t.Errorf("%s: the agent is %s", name, a.Status)
		}
	}
}

// TestLeadersWorkerIsNotItsAgents: it is of no team, and its agents must not end it.
func TestLeadersWorkerIsNotItsAgents(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	boss, plain := r.MustSpawn(t, "boss", "one"), r.MustSpawn(t, "plain", "one")
	r.MustChange(t, leads(hosttest.TeamName, boss.ID))
	r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	in := r.WithEnv(t, swarm.EnvToken+"="+r.Token(t, "a"))
	if _, err := in.Kill().Kill(t.Context(), worker.Selection{Names: []string{"plain", "boss"}}, kill.Request{}); !errors.Is(err, team.ErrKillLeader) || len(r.One.Kills) > 0 {
		t.Errorf("%v; kills %v", err, r.One.Kills)
	}
	// It leads on after a respawn, from wherever that is asked for.
	boss = r.MustRespawn(t, "boss")
	if c, err := r.WithEnv(t, swarm.EnvWorkerID+"="+boss.ID).Callers().Caller(t.Context()); err != nil || c.WorkerID != boss.ID {
		t.Errorf("%+v, %v", c, err)
	}
	r.One.BeforeSpawn = hosttest.FailOnce(errors.New("no"))
	if _, err := r.Spawn().Respawn(t.Context(), "boss", spawn.RespawnRequest{}); err == nil {
		t.Error("it was respawned")
	}
	if !leadsCrew(t, r, boss.ID) || leadsCrew(t, r, plain.ID) {
		t.Error("another one leads")
	}
	if out := r.WithEnv(t, swarm.EnvWorkerID+"="+plain.ID).MustKill(t, worker.Selection{Names: []string{"boss"}}, kill.Request{}); out[0].Err != nil {
		t.Errorf("a worker of no team: %v", out[0].Err)
	}
}

// leads makes a worker the leader's.
func leads(name, id string) func(context.Context, *registry.Tx) error {
	return func(ctx context.Context, tx *registry.Tx) error {
		t, err := tx.Team(ctx, name)
		if err != nil {
			return err
		}
		t.LeaderWorker = id
		return tx.PutTeam(ctx, &t)
	}
}

func leadsCrew(t *testing.T, r *hosttest.Rig, id string) bool {
	t.Helper()
	var err error
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
		err = team.Lead(ctx, tx, team.Caller{WorkerID: id}, hosttest.TeamName, "")
		return nil
	})
	return err == nil
}
