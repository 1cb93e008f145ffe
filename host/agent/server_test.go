package agent_test

import (
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
)

// createServed makes the crew with a server that works.
func (w *world) createServed() agent.Server {
	w.Helper()
	c, err := agent.CreateTeam(w.Context(), w.host(), agent.CreateRequest{
		TeamName: crew, Server: []string{self(w), asServer, "{port}"}, Dir: w.root,
	})
	w.ok(err)
	if c.Server == nil || c.Server.Worker != crew+"-server" || !answering(c.Server.Port) {
		w.Fatalf("created: %+v, server %+v", c, c.Server)
	}
	return *c.Server
}

func answering(port int) bool {
	c, err := net.Dial("tcp", net.JoinHostPort(agent.ServerHost, strconv.Itoa(port)))
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// server returns how the server of the crew is.
func (w *world) server() agent.Server {
	w.Helper()
	s, err := agent.Status(w.Context(), w.host(), agent.StatusRequest{TeamName: crew, IncludeServer: true})
	w.ok(err)
	if s.Server == nil {
		w.Fatal("there is no server")
	}
	return *s.Server
}

func TestServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.createServed()
	got := w.server()
	if !got.IsRunning || got.ActiveSessions != 0 || got.Port != first.Port || got.PID == 0 || got.Hostname != agent.ServerHost || got.StartedAt.IsZero() {
		t.Errorf("server: %+v", got)
	}
	// It is kept although no one uses it yet.
	_, err := w.host().Sweeper().Sweep(t.Context(), crew)
	w.ok(err)

	ann := w.spawn("ann", "process")
	ann.run("echo $SWARM_TEAM_SERVER > env.new; mv env.new env")
	if got, want := strings.TrimSpace(ann.file("env")), agent.ServerHost+":"+strconv.Itoa(first.Port); got != want {
		t.Errorf("the agent's server is %q, want %q", got, want)
	}
	bob := w.spawn("bob", "process")
	if got := w.server(); !got.IsRunning || got.ActiveSessions != 2 || got.PID != first.PID {
		t.Errorf("server with two agents: %+v", got)
	}
	_, err = w.kill("bob", true)
	w.ok(err)
	if got := w.server(); !got.IsRunning || got.ActiveSessions != 1 {
		t.Errorf("server with one agent: %+v", got)
	}

	// The last one goes by itself, as it was asked to.
	_, err = w.kill("ann", false)
	w.ok(err)
	ann.call(call{Respond: &agent.RespondRequest{TeamName: crew, Approve: true, Ready: true}})
	w.wait("the server has stopped", func() bool { got := w.server(); return !got.IsRunning && got.PID == 0 })
	if got := w.server(); got.ActiveSessions != 0 || got.PID != 0 || answering(first.Port) {
		t.Errorf("server without agents: %+v", got)
	}
	bob.gone()

	cal := w.spawn("cal", "process")
	again := w.server()
	if !again.IsRunning || again.ActiveSessions != 1 || !answering(again.Port) || again.Worker != first.Worker {
		t.Errorf("server that was started again: %+v", again)
	}
	cal.run("exit 0")
	cal.gone()
	// Its session counts as long as the agent is one.
	_, err = w.kill("cal", false)
	w.ok(err)
	if got := w.server(); got.IsRunning {
		t.Errorf("server after the last agent was gone: %+v", got)
	}
}

// TestServerDied is a server that is not there any more when an agent comes.
func TestServerDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.createServed()
	w.spawn("ann", "process")
	_, err := w.host().Kill().Kill(t.Context(), worker.Selection{Names: []string{first.Worker}}, kill.Request{Signal: "SIGKILL"})
	w.ok(err)
	if got := w.server(); got.IsRunning || got.PID != 0 || got.ActiveSessions != 1 {
		t.Errorf("server that died: %+v", got)
	}
	// Of several that come at once one starts it.
	var wg sync.WaitGroup
	for _, name := range []string{"bob", "cal", "dan"} {
		h := w.host()
		wg.Go(func() {
			_, err := agent.Spawn(t.Context(), h, agent.SpawnRequest{
				Team: crew, Name: name, Dir: w.root, Backend: "process", Command: []string{"sleep", "1000"},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	// Where those that have stayed know that it is.
	if got := w.server(); !got.IsRunning || got.ActiveSessions != 4 || got.Port != first.Port {
		t.Errorf("server: %+v", got)
	}
	ws, _, err := w.host().Workers(t.Context(), worker.Selection{All: true})
	w.ok(err)
	if len(ws) != 5 {
		t.Errorf("%d workers, want 4 agents and a server", len(ws))
	}
}

func TestServerThatDoesNotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tt := range []struct {
		command []string
		want    string
	}{
		{[]string{"sh", "-c", "echo no such model; exit 3"}, "(exit 3): no such model"},
		{[]string{"nowhere/server"}, "cannot start the server of team 'crew'"},
	} {
		_, err := agent.CreateTeam(t.Context(), w.host(), agent.CreateRequest{TeamName: crew, Server: tt.command, Dir: w.root})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
	ws, _, err := w.host().Workers(t.Context(), worker.Selection{All: true})
	w.ok(err)
	teams, _, err := agent.Teams(t.Context(), w.host())
	w.ok(err)
	if len(ws) > 0 || len(teams) > 0 {
		t.Errorf("left: workers %v, teams %v", ws, teams)
	}
}

// TestServerThatFalls is one that listens for a moment only.
func TestServerThatFalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, err := agent.CreateTeam(t.Context(), w.host(), agent.CreateRequest{
		TeamName: crew, Server: []string{"timeout", "1", self(w), asServer, "{port}"}, Dir: w.root,
	})
	w.ok(err)
	w.wait("the server has ended", func() bool { return !answering(c.Server.Port) })
	// It may be up for as long as it takes to come, or not; no one waits without end.
	s, err := agent.Spawn(t.Context(), w.host(), agent.SpawnRequest{
		Team: crew, Name: "ann", Dir: w.root, Backend: "process", Command: []string{"sleep", "1000"},
	})
	if err != nil && !strings.Contains(err.Error(), "does not stay up") {
		t.Error(err)
	}
	t.Logf("spawned: %+v, %v", s, err)
}

// TestServerNameTaken is a worker of another user's that is called like the server.
func TestServerNameTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.host().Spawn().Spawn(t.Context(), spawn.Request{Name: crew + "-server", Backend: "process", Command: []string{"sleep", "1000"}, Dir: w.root})
	w.ok(err)
	c, err := agent.CreateTeam(t.Context(), w.host(), agent.CreateRequest{
		TeamName: crew, Server: []string{self(w), asServer, "{port}"}, Dir: w.root,
	})
	w.ok(err)
	if c.Server.Worker != crew+"-server-2" {
		t.Errorf("the server is called %s", c.Server.Worker)
	}
	d, err := agent.DeleteTeam(t.Context(), w.host(), crew, false)
	w.ok(err)
	if len(d.Warnings) > 0 || answering(c.Server.Port) {
		t.Errorf("deleted: %+v", d)
	}
	ws, _, err := w.host().Workers(t.Context(), worker.Selection{Names: []string{crew + "-server"}})
	w.ok(err)
	if ws[0].Status != worker.StatusRunning {
		t.Errorf("the other worker is %s", ws[0].Status)
	}
}
