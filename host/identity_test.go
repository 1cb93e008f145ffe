package host_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// errUnproven stands for every [team.UnprovenError].
var errUnproven = errors.New("unproven")

func TestCaller(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	a := r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	lead := r.MustSpawn(t, "lead", "one", hosttest.AsAgent, func(q *spawn.Request) { q.Agent.Role = team.RoleLeader })
	other := r.MustSpawn(t, "plain", "one")
	// A worker with a shim has a proof beside its environment.
	kept := r.MustSpawn(t, "kept", "one")
	keptAgent := r.MustSpawn(t, "kept-agent", "one", hosttest.AsAgent)
	keptLead := r.MustSpawn(t, "kept-lead", "one", hosttest.AsAgent, func(q *spawn.Request) { q.Agent.Role = team.RoleLeader })
	for _, w := range []worker.Worker{kept, keptAgent, keptLead} {
		if err := os.WriteFile(filepath.Join(r.StateDir().RunDir(w.ID), rundir.StatusFile), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const id = swarm.EnvWorkerID + "="
	token := swarm.EnvToken + "=" + r.Token(t, "a")
	agent := team.Caller{WorkerID: a.ID, Team: hosttest.TeamName, Agent: "agent-a", Name: "a", Role: team.RoleWorker}
	for what, c := range map[string]struct {
		env  []string
		want team.Caller
		err  error
	}{
		"a person":                       {nil, team.Caller{Person: true}, nil},
		"a token":                        {[]string{token}, agent, nil},
		"its worker":                     {[]string{id + a.ID}, agent, nil},
		"a token in another worker":      {[]string{token, id + other.ID}, agent, nil},
		"a leader":                       {[]string{id + lead.ID}, team.Caller{WorkerID: lead.ID, Team: hosttest.TeamName, Agent: "agent-lead", Name: "lead", Role: team.RoleLeader}, nil},
		"a worker of no team":            {[]string{id + other.ID}, team.Caller{WorkerID: other.ID}, nil},
		"a daemon of a worker":           {[]string{id + kept.ID}, team.Caller{}, errUnproven},
		"a daemon of an agent":           {[]string{id + keptAgent.ID}, team.Caller{WorkerID: keptAgent.ID, Team: hosttest.TeamName, Agent: "agent-kept-agent", Name: "kept-agent", Role: team.RoleWorker}, nil},
		"a daemon of a leader":           {[]string{id + keptLead.ID}, team.Caller{}, errUnproven},
		"a shim":                         {[]string{id + a.ID, swarm.EnvShim + "=respawn"}, agent, nil},
		"an agent's id":                  {[]string{caller.EnvAgentID + "=agent-a"}, team.Caller{}, errUnproven},
		"a worker's name":                {[]string{swarm.EnvWorker + "=a"}, team.Caller{}, errUnproven},
		"a person who prefers a team":    {[]string{caller.EnvTeam + "=" + hosttest.TeamName}, team.Caller{Person: true}, nil},
		"a wrong token":                  {[]string{swarm.EnvToken + "=x"}, team.Caller{}, team.ErrUnknownToken},
		"a wrong token in a worker":      {[]string{swarm.EnvToken + "=x", id + a.ID}, team.Caller{}, team.ErrUnknownToken},
		"a hash for a token":             {[]string{swarm.EnvToken + "=" + r.Agent(t, "a").TokenHash}, team.Caller{}, team.ErrUnknownToken},
		"an id that is no name of a dir": {[]string{id + "../workers/" + a.ID}, team.Caller{}, errUnproven},
	} {
		got, err := r.WithEnv(t, c.env...).Callers().Caller(t.Context())
		if _, ok := errors.AsType[*team.UnprovenError](err); ok {
			err = errUnproven
		}
		if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
			t.Errorf("%s: %v (-want +got):\n%s", what, err, diff)
		}
	}
	// Nobody is known where there never was a registry.
	none := hosttest.New(t)
	if _, err := none.Callers().Caller(t.Context()); !errors.Is(err, team.ErrUnknownToken) {
		t.Errorf("a token without a registry: %v", err)
	}
	none.SetEnv(t)
	if c, err := none.Callers().Caller(t.Context()); err != nil || !c.Person {
		t.Errorf("a person without a registry: %+v, %v", c, err)
	}
}

// TestTokenIsKeptByNobody: it is in the agent's environment, and its hash in the
// database.
func TestTokenIsKeptByNobody(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	// Nobody is given a token by hand.
	own := func(q *spawn.Request) { q.Env = []string{"A=1", swarm.EnvToken + "=by-hand"} }
	r.MustSpawn(t, "plain", "one", own)
	r.MustSpawn(t, "a", "one", hosttest.AsAgent, own)
	tokens := []string{r.Token(t, "a")}
	r.MustRespawn(t, "a")
	tokens = append(tokens, r.Token(t, "a"))
	if tokens[0] == tokens[1] || len(tokens[0]) != 2*caller.TokenBytes {
		t.Errorf("tokens %q", tokens)
	}
	if _, err := r.WithEnv(t, swarm.EnvToken+"="+tokens[0]).Callers().Caller(t.Context()); !errors.Is(err, team.ErrUnknownToken) {
		t.Errorf("the token of before: %v", err)
	}
	for _, w := range r.One.All(t) {
		i := slices.IndexFunc(w.Spec.Env, func(kv string) bool { return strings.HasPrefix(kv, swarm.EnvToken) })
		if (i >= 0) != (w.Spec.Name == "a") || i >= 0 && !slices.Contains(tokens, strings.TrimPrefix(w.Spec.Env[i], swarm.EnvToken+"=")) {
			t.Errorf("%s has %q", w.Spec.Name, w.Spec.Env)
		}
		if w.Spec.Name == "a" && (!slices.Contains(w.Spec.Env, "SWARM_TEAM="+hosttest.TeamName) || !slices.Contains(w.Spec.Env, "SWARM_AGENT_ID=agent-a")) {
			t.Errorf("an agent has %q", w.Spec.Env)
		}
	}
	err := filepath.WalkDir(r.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, token := range tokens {
			if strings.Contains(string(b), token) {
				t.Errorf("%s holds a token", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if hash := r.Agent(t, "a").TokenHash; hash != caller.HashToken(tokens[1]) {
		t.Errorf("the hash is %q", hash)
	}
}

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
			_, err := r.Input().Attach(ctx, name)
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
		t.Errorf("the backend was told %v, %v, %v", r.One.Kills, r.One.Inputs, r.One.Signals)
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
	lead := r.MustSpawn(t, "lead", "one", hosttest.AsAgent, func(q *spawn.Request) { q.Agent.Role = team.RoleLeader })
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
		if a := r.Agent(t, name); a.Status != team.Terminated {
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
