package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

func TestSpawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createServed()
	s, err := agent.Spawn(t.Context(), w.host(), agent.SpawnRequest{
		Team: crew, Model: "m", Prompt: "do {name}", Dir: w.root, Backend: "process",
		Command: []string{"sh", "-c", "echo \"$@\" > args; env > env; exec sleep 1000", "x", "{name}", "{model} {model}", "-p={prompt}", "{port}", "{other}"},
	})
	w.ok(err)
	if s.Name != s.AgentID || !strings.HasPrefix(s.AgentID, "agent-") || len(s.AgentID) != len("agent-abc123") || s.Worker != "crew-"+s.AgentID || len(s.Warnings) > 0 {
		t.Errorf("spawned: %+v", s)
	}
	var args, env string
	w.wait("the agent has started", func() bool {
		b, _ := os.ReadFile(filepath.Join(w.root, "env"))
		env = string(b)
		return strings.Contains(env, "SWARM_TEAM_SERVER=")
	})
	b, err := os.ReadFile(filepath.Join(w.root, "args"))
	w.ok(err)
	args = string(b)
	port := env[strings.Index(env, "SWARM_TEAM_SERVER=127.0.0.1:")+len("SWARM_TEAM_SERVER=127.0.0.1:"):]
	port, _, _ = strings.Cut(port, "\n")
	if want := s.AgentID + " m m -p=do {name} " + port + " {other}\n"; args != want {
		t.Errorf("arguments %q, want %q", args, want)
	}
	for _, want := range []string{"SWARM_TEAM=crew\n", "SWARM_AGENT_ID=" + s.AgentID + "\n", "SWARM_TOKEN="} {
		if !strings.Contains(env, want) {
			t.Errorf("no %q in the environment of the agent", want)
		}
	}
}

func TestSpawnRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spawn := func(h *host.Host, r agent.SpawnRequest) error {
		if r.Team == "" {
			r.Team = crew
		}
		if r.Command == nil {
			r.Command = []string{"sleep", "1000"}
		}
		if r.Backend == "" {
			r.Backend = "process"
		}
		r.Dir = w.root
		_, err := agent.Spawn(t.Context(), h, r)
		return err
	}
	w.refused("Team 'crew' does not exist", spawn(w.host(), agent.SpawnRequest{}))
	w.create(crew)
	w.ok(spawn(w.host(), agent.SpawnRequest{Name: "ann"}))
	bob := w.spawn("bob", "process")
	w.refused("Only the team leader can spawn agents", spawn(w.as(bob.token), agent.SpawnRequest{}))
	w.refused("Agent 'ann' already exists in team 'crew'", spawn(w.host(), agent.SpawnRequest{Name: "ann"}))
	for _, r := range []agent.SpawnRequest{
		{Name: "leader"},
		{Name: "a b"},
		{Name: strings.Repeat("a", 32)},
		{Role: "boss"},
		{Backend: "nowhere"},
		{Command: []string{"no/such/program"}},
		{Command: []string{}},
	} {
		if err := spawn(w.host(), r); err == nil {
			t.Errorf("%+v was spawned", r)
		}
	}
	s, err := agent.Status(t.Context(), w.host(), agent.StatusRequest{TeamName: crew, IncludeTerminated: true})
	w.ok(err)
	ws, _, err := w.host().Workers(t.Context(), worker.Selection{All: true})
	w.ok(err)
	if len(s.Agents) != 2 || len(ws) != 2 {
		t.Errorf("agents %+v, workers %+v", s.Agents, ws)
	}
}

func TestTeamNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"", "../../x", "a b", "-x", strings.Repeat("t", 33)} {
		if _, err := agent.CreateTeam(t.Context(), w.host(), agent.CreateRequest{TeamName: name}); err == nil || !strings.HasPrefix(err.Error(), "Invalid team name ") {
			t.Errorf("%q: %v", name, err)
		}
	}
	w.create(crew)
	_, err := agent.CreateTeam(t.Context(), w.host(), agent.CreateRequest{TeamName: crew})
	w.refused("Team 'crew' already exists", err)
	if left, err := filepath.Glob(filepath.Join(w.root, "*")); err != nil || len(left) != 1 {
		t.Errorf("files: %v, %v", left, err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("t", 32)
	w.create(long)
	name := strings.Repeat("a", 31)
	for _, want := range []string{long + "-" + name, (long + "-" + name)[:62] + "-2"} {
		m := w.spawnIn(long, name, "process", "")
		if m.Worker != want {
			t.Errorf("worker %s, want %s", m.Worker, want)
		}
		_, err := agent.Kill(t.Context(), w.host(), agent.KillRequest{TeamName: long, AgentID: name, Force: true})
		w.ok(err)
	}
}

// TestPromptTyped are agents that show that they are ready, and those that show
// nothing at all.
func TestPromptTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	for _, tt := range []struct{ name, backend, shows string }{
		{"ready", "tmux", "printf '> \\n'"},
		{"silent", "tmux", "true"},
		{"piped", "process", "true"},
	} {
		out := filepath.Join(w.root, tt.name)
		s, err := agent.Spawn(t.Context(), w.host(), agent.SpawnRequest{
			Team: crew, Name: tt.name, Prompt: "write a poem", Dir: w.root, Backend: tt.backend,
			Command: []string{"sh", "-c", tt.shows + "; read line; echo \"$line\" > $0.new; mv $0.new $0; exec sleep 1000", out},
		})
		w.ok(err)
		if len(s.Warnings) > 0 {
			t.Errorf("%s: warnings: %q", tt.name, s.Warnings)
		}
		w.wait("the prompt is read", func() bool {
			b, err := os.ReadFile(out)
			return err == nil && string(b) == "write a poem\n"
		})
	}
}

// TestPromptInInbox is an agent that ends before it is ready.
func TestPromptInInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	s, err := agent.Spawn(t.Context(), w.host(), agent.SpawnRequest{
		Team: crew, Name: "ann", Prompt: "write a poem", Dir: w.root, Command: []string{"true"},
	})
	w.ok(err)
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "it is in its inbox") {
		t.Errorf("warnings: %q", s.Warnings)
	}
	w.ok(w.host().Store().Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
		in, _, err := tx.Messages(ctx, registry.MessageQuery{Team: crew, Recipient: s.AgentID, Limit: 10, Bytes: 1 << 20})
		if err == nil && (len(in) != 1 || in[0].Body != "write a poem" || in[0].Sender != team.Leader) {
			t.Errorf("inbox: %+v", in)
		}
		return err
	}))
}

func TestColors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	seen := map[string]bool{}
	for range 10 {
		s, err := agent.Spawn(t.Context(), w.host(), agent.SpawnRequest{Team: crew, Dir: w.root, Backend: "process", Command: []string{"sleep", "1000"}})
		w.ok(err)
		seen[s.Color] = true
		if len(s.Warnings) > 0 {
			t.Errorf("warnings: %q", s.Warnings)
		}
	}
	s, err := agent.Spawn(t.Context(), w.host(), agent.SpawnRequest{Team: crew, Dir: w.root, Backend: "process", Command: []string{"sleep", "1000"}})
	w.ok(err)
	if len(seen) != 10 || !seen[s.Color] || len(s.Warnings) != 1 {
		t.Errorf("%d colours, then %s with %q", len(seen), s.Color, s.Warnings)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.createServed()
	ann, bob := w.spawn("ann", "process"), w.spawn("bob", "tmux")
	_, err := agent.DeleteTeam(t.Context(), w.as(ann.token), crew, true)
	w.refused("Only the team leader can delete the team", err)
	_, err = agent.DeleteTeam(t.Context(), w.host(), crew, false)
	w.refused("Team 'crew' has 2 live agent(s): ann, bob", err)
	if !w.server().IsRunning {
		t.Error("the server was stopped")
	}
	w.is("ann", registry.AgentActive)

	d, err := agent.DeleteTeam(t.Context(), w.host(), crew, true)
	w.ok(err)
	if diff := cmp.Diff(agent.Deleted{Killed: []string{ann.AgentID, bob.AgentID}}, d); diff != "" {
		t.Error(diff)
	}
	ann.gone()
	bob.gone()
	if answering(c.Port) {
		t.Error("the server runs")
	}
	_, err = agent.DeleteTeam(t.Context(), w.host(), crew, true)
	w.refused("Team 'crew' does not exist", err)
	// Nothing is left of it, and its name is free.
	w.create(crew)
	if a := w.spawn("ann", "process"); a.Worker != "crew-ann-2" {
		t.Errorf("the worker is %s", a.Worker)
	}
	_, err = w.host().Kill().Clean(t.Context(), worker.Selection{Names: []string{"crew-ann", "crew-bob", "crew-server"}}, kill.CleanRequest{})
	w.ok(err)
}

// TestDeleteByAnAgent: who leads a team as one of its agents ends with it.
func TestDeleteByAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	boss, ann := w.spawnIn(crew, "boss", "process", registry.RoleLeader), w.spawn("ann", "process")
	_, err := agent.DeleteTeam(t.Context(), w.as(boss.token), crew, false)
	w.refused("Team 'crew' has 2 live agent(s): boss, ann", err)
	d, err := agent.DeleteTeam(t.Context(), w.as(boss.token), crew, true)
	w.ok(err)
	if diff := cmp.Diff(agent.Deleted{Killed: []string{ann.AgentID, boss.AgentID}}, d); diff != "" {
		t.Error(diff)
	}
	boss.gone()
	ann.gone()
	_, err = agent.DeleteTeam(t.Context(), w.host(), crew, true)
	w.refused("Team 'crew' does not exist", err)
}

// TestDeleteWhileAnAgentComes: without force no agent is killed that came while the
// deletion waited.
func TestDeleteWhileAnAgentComes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.createServed()
	// An agent is on its way, and there in the end.
	release, err := w.host().TeamServers().Hold(t.Context(), crew, false)
	w.ok(err)
	deleted := make(chan error, 1)
	h := w.host()
	go func() {
		_, err := agent.DeleteTeam(t.Context(), h, crew, false)
		deleted <- err
	}()
	w.spawn("ann", "process")
	release()
	w.refused("Team 'crew' has 1 live agent(s): ann", <-deleted)
	w.is("ann", registry.AgentActive)
	if !answering(c.Port) {
		t.Error("the server was stopped")
	}
}

// TestPromptAsArgument: an agent whose profile says how has its prompt as an argument, and is
// respawned without it.
func TestPromptAsArgument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	program, out := filepath.Join(w.root, "claude"), filepath.Join(w.root, "argument")
	script := "#!/bin/sh\nprintf '%s,' \"$@\" > '" + out + ".new'\nmv '" + out + ".new' '" + out + "'\nexec sleep 1000\n"
	w.ok(os.WriteFile(program, []byte(script), 0o700)) //nolint:gosec // it is a program
	argument := func(want string) {
		w.wait("it has "+want, func() bool {
			b, err := os.ReadFile(out)
			return err == nil && string(b) == want
		})
	}
	s, err := agent.Spawn(t.Context(), w.host(), agent.SpawnRequest{
		Team: crew, Name: "ann", Prompt: "write a poem", Dir: w.root, Command: []string{program, "--verbose"},
	})
	w.ok(err)
	argument("write a poem,--verbose,")
	_, err = w.host().Spawn().Respawn(t.Context(), s.Worker, spawn.RespawnRequest{})
	w.ok(err)
	argument("--verbose,")
}
