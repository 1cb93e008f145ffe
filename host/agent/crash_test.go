package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

// crashes is how often a call is killed at some moment.
const crashes = 6

// crash has a process make a call and kills it some time in the first limit.
func (w *world) crash(c call, limit time.Duration) {
	w.Helper()
	c.Bin, c.Dir = bin, w.state()
	arg, err := json.Marshal(c)
	w.ok(err)
	ctx, cancel := context.WithTimeout(w.Context(), rand.N(limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, self(w), asCaller, string(arg))
	cmd.Env = w.person()
	_ = cmd.Run() // however it ended
}

// TestKillerKilled kills the callers of forced kills: at whatever moment, the agent is
// unchanged or released once the next call has looked.
func TestKillerKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	counts := map[registry.AgentStatus]int{}
	for i := range crashes {
		m := w.spawn("ann", "process")
		if i%4 == 0 {
			m.run("trap '' TERM; echo yes > ready")
			m.file("ready")
		}
		task := m.task("work")
		w.crash(call{Kill: &killCall{Team: crew, Agent: "ann", Force: true}}, 400*time.Millisecond)
		_, err := w.host().Sweeper().Sweep(t.Context(), crew)
		w.ok(err)
		counts[w.whole(m, task)]++
		if _, err := w.kill(m.AgentID, true); err != nil && !strings.HasSuffix(err.Error(), "is already terminated") {
			t.Fatal(err)
		}
		if got := w.whole(m, task); got != registry.AgentTerminated {
			t.Errorf("after another kill the agent is %s", got)
		}
		m.gone()
	}
	t.Logf("found: %v", counts)
}

// whole returns the status of an agent all of whose facts must fit.
func (w *world) whole(m *member, taskID string) registry.AgentStatus {
	w.Helper()
	var a registry.Agent
	var task registry.Task
	w.change(w.host(), func(ctx context.Context, tx *registry.Tx, c team.Caller) (err error) {
		if a, err = tx.Agent(ctx, m.AgentID); err != nil {
			return err
		}
		tasks, err := team.Tasks(ctx, tx, c, crew, "", "")
		for _, t := range tasks {
			if team.TaskID(t.N) == taskID {
				task = t
			}
		}
		return err
	})
	switch {
	case a.Status == registry.AgentTerminated:
		if task.Status != registry.TaskPending || task.Owner != "" || a.TokenHash != "" || a.Terminated.IsZero() {
			w.Errorf("terminated: %+v, task %+v", a, task)
		}
	case task.Status != registry.TaskInProgress || task.Owner != m.AgentID || a.TokenHash == "" || !a.Lost.IsZero():
		w.Errorf("not terminated: %+v, task %+v", a, task)
	}
	return a.Status
}

// TestResponderKilled kills agents while they say from inside that they are ready:
// one that is terminated ends, and one that is not can say it again.
func TestResponderKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	c := call{Bin: bin, Dir: w.state(), Respond: &agent.RespondRequest{TeamName: crew, Approve: true, Ready: true}}
	arg, err := json.Marshal(c)
	w.ok(err)
	counts := map[registry.AgentStatus]int{}
	for range crashes {
		m := w.spawn("ann", "process")
		task := m.task("work")
		_, err := w.kill("ann", false)
		w.ok(err)
		limit := fmt.Sprintf("%.3f", rand.Float64()/3)
		m.run("timeout -s KILL " + limit + " " + self(w) + " " + asCaller + " '" + string(arg) + "' > out; echo done > tried.new; mv tried.new tried")
		m.file("tried")
		_, err = w.host().Sweeper().Sweep(t.Context(), crew)
		w.ok(err)
		status := w.whole(m, task)
		counts[status]++
		if status != registry.AgentTerminated {
			m.call(call{Respond: c.Respond})
		}
		m.run("exit 0") // else it has its grace
		m.gone()
		if got := w.whole(m, task); got != registry.AgentTerminated {
			t.Errorf("after another answer the agent is %s", got)
		}
	}
	t.Logf("found: %v", counts)
}

// TestSpawnerKilled kills those who spawn: the agent is there with its process, or
// it is inactive for want of one, or there is neither.
func TestSpawnerKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	there := 0
	for range crashes {
		w.crash(call{Spawn: &agent.SpawnRequest{
			Team: crew, Name: "ann", Dir: w.root, Backend: "process", Command: []string{"sleep", "1000"},
		}}, 200*time.Millisecond)
		var s agent.StatusAnswer
		w.wait("the agent is what its process is", func() bool {
			// A half-made process may be adopted first, and end then.
			_, err := w.host().Sweeper().Sweep(t.Context(), crew)
			w.ok(err)
			ws, _, err := w.host().Workers(t.Context(), worker.Selection{All: true})
			w.ok(err)
			s, err = agent.Status(t.Context(), w.host(), agent.StatusRequest{TeamName: crew})
			w.ok(err)
			return len(slices.DeleteFunc(ws, worker.Worker.Gone)) == s.Summary.Active
		})
		if s.Summary.Total == 0 {
			continue
		}
		there++
		if s.Summary.Total != 1 || s.Summary.Inactive != 1-s.Summary.Active {
			t.Fatalf("agents: %+v", s.Agents)
		}
		k, err := w.kill("ann", s.Summary.Active == 1)
		w.ok(err)
		if s.Summary.Inactive == 1 && k.Phase != registry.ShutdownConfirmed {
			t.Errorf("the kill of an agent that never was: %+v", k)
		}
	}
	t.Logf("%d of %d were there", there, crashes)
}

// TestKillAndDelete has a team be deleted while one of its agents is killed.
func TestKillAndDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range crashes {
		w.create(crew)
		m := w.spawn("ann", "process")
		var wg sync.WaitGroup
		var kerr, derr error
		killer, deleter := w.host(), w.host()
		wg.Go(func() {
			_, kerr = agent.Kill(t.Context(), killer, agent.KillRequest{TeamName: crew, AgentID: "ann", Force: true})
		})
		wg.Go(func() { _, derr = agent.DeleteTeam(t.Context(), deleter, crew, true) })
		wg.Wait()
		w.ok(derr)
		switch text(kerr) {
		case "", "Team 'crew' does not exist", "Agent 'ann' is already terminated":
		default:
			t.Errorf("kill: %v", kerr)
		}
		ws, _, err := w.host().Workers(t.Context(), worker.Selection{Names: []string{m.Worker}})
		w.ok(err)
		if ws[0].Status != worker.StatusStopped {
			t.Errorf("the worker is %s", ws[0].Status)
		}
	}
}

// TestKillAndRespawn has an agent be started again while it is killed: it has no
// process once it is terminated.
func TestKillAndRespawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	respawned := 0
	for range crashes {
		s, err := agent.Spawn(t.Context(), w.host(), agent.SpawnRequest{
			Team: crew, Name: "ann", Dir: w.root, Backend: "process", Command: []string{"sleep", "1000"},
		})
		w.ok(err)
		var wg sync.WaitGroup
		killer, respawner := w.host(), w.host()
		wg.Go(func() {
			k, err := agent.Kill(t.Context(), killer, agent.KillRequest{TeamName: crew, AgentID: "ann", Force: true})
			if err != nil || k.Phase != registry.ShutdownForceKilled {
				t.Errorf("kill: %+v, %v", k, err)
			}
		})
		wg.Go(func() {
			if _, err := respawner.Spawn().Respawn(t.Context(), s.Worker, spawn.RespawnRequest{}); err == nil {
				respawned++
			}
		})
		wg.Wait()
		w.is(s.AgentID, registry.AgentTerminated)
		ws, _, err := w.host().Workers(t.Context(), worker.Selection{Names: []string{s.Worker}})
		w.ok(err)
		if ws[0].Status != worker.StatusStopped {
			t.Errorf("the worker is %s", ws[0].Status)
		}
	}
	t.Logf("%d of %d were started again", respawned, crashes)
}
