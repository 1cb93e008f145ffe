package caller_test

import (
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
	lead := r.MustSpawn(t, "lead", "one", hosttest.AsAgent, func(q *spawn.Request) { q.Agent.Role = registry.RoleLeader })
	other := r.MustSpawn(t, "plain", "one")
	// A worker with a shim has a proof in addition to its environment.
	kept := r.MustSpawn(t, "kept", "one")
	keptAgent := r.MustSpawn(t, "kept-agent", "one", hosttest.AsAgent)
	keptLead := r.MustSpawn(t, "kept-lead", "one", hosttest.AsAgent, func(q *spawn.Request) { q.Agent.Role = registry.RoleLeader })
	for _, w := range []worker.Worker{kept, keptAgent, keptLead} {
		if err := os.WriteFile(filepath.Join(r.StateDir().RunDir(w.ID), rundir.StatusFile), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const id = swarm.EnvWorkerID + "="
	token := swarm.EnvToken + "=" + r.Token(t, "a")
	agent := team.Caller{WorkerID: a.ID, Team: hosttest.TeamName, Agent: "agent-a", Name: "a", Role: registry.RoleWorker}
	for what, c := range map[string]struct {
		env  []string
		want team.Caller
		err  error
	}{
		"a person":                       {nil, team.Caller{Person: true}, nil},
		"a token":                        {[]string{token}, agent, nil},
		"its worker":                     {[]string{id + a.ID}, agent, nil},
		"a token in another worker":      {[]string{token, id + other.ID}, agent, nil},
		"a leader":                       {[]string{id + lead.ID}, team.Caller{WorkerID: lead.ID, Team: hosttest.TeamName, Agent: "agent-lead", Name: "lead", Role: registry.RoleLeader}, nil},
		"a worker of no team":            {[]string{id + other.ID}, team.Caller{WorkerID: other.ID}, nil},
		"a daemon of a worker":           {[]string{id + kept.ID}, team.Caller{}, errUnproven},
		"a daemon of an agent":           {[]string{id + keptAgent.ID}, team.Caller{WorkerID: keptAgent.ID, Team: hosttest.TeamName, Agent: "agent-kept-agent", Name: "kept-agent", Role: registry.RoleWorker}, nil},
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
	// Where there never was a registry, no caller is known.
	none := hosttest.New(t)
	if _, err := none.Callers().Caller(t.Context()); !errors.Is(err, team.ErrUnknownToken) {
		t.Errorf("a token without a registry: %v", err)
	}
	none.SetEnv(t)
	if c, err := none.Callers().Caller(t.Context()); err != nil || !c.Person {
		t.Errorf("a person without a registry: %+v, %v", c, err)
	}
}

// TestTokenIsStoredNowhere: it is in the agent's environment, and its hash in the
// database.
func TestTokenIsStoredNowhere(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	// No worker gets a token that was given by hand.
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
