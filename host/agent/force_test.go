package agent_test

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
)

func TestWhoCanBeKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.kill("ann", true)
	w.refused("Team 'crew' does not exist", err)
	if _, err := os.Stat(filepath.Join(w.state(), registry.File)); err == nil {
		t.Error("a kill in a team that is not there has made a registry")
	}
	w.create(crew)
	w.create("other")
	ann, bob := w.spawn("ann", "process"), w.spawn("bob", "process")
	zoe := w.spawnIn("other", "zoe", "process", "")
	boss := w.spawnIn(crew, "boss", "process", registry.RoleLeader)

	for _, force := range []bool{false, true} {
		for _, tt := range []struct{ team, agent, want string }{
			{crew, "ghost", "Agent 'ghost' not found"},
			{crew, zoe.AgentID, "Agent '" + zoe.AgentID + "' not found"},
			{crew, "zoe", "Agent 'zoe' not found"},
			{crew, "leader", "Cannot kill the team leader"},
			{crew, "boss", "Cannot kill the team leader"},
			{"nowhere", "ann", "Team 'nowhere' does not exist"},
		} {
			_, err := agent.Kill(t.Context(), w.host(), agent.KillRequest{TeamName: tt.team, AgentID: tt.agent, Force: force})
			w.refused(tt.want, err)
		}
		for _, h := range []*host.Host{w.as(ann.token), w.as(zoe.token)} {
			_, err := agent.Kill(t.Context(), h, agent.KillRequest{TeamName: crew, AgentID: "bob", Force: force})
			w.refused("Only the team leader can kill agents", err)
		}
		_, err := agent.Kill(t.Context(), w.as("beef"), agent.KillRequest{TeamName: crew, AgentID: "bob", Force: force})
		w.refused("Unknown agent token", err)
		// Its environment is not needed to know who it is.
		ann.run("unset SWARM_TOKEN SWARM_WORKER_ID SWARM_SHIM")
		if got := ann.call(call{Kill: &killCall{Team: crew, Agent: "bob", Force: force}}); got.Error != "Only the team leader can kill agents" {
			t.Errorf("from inside: %+v", got)
		}
	}
	for _, m := range []*member{ann, bob, boss} {
		w.is(m.Name, registry.AgentActive)
	}
	k, err := agent.Kill(t.Context(), w.as(boss.token), agent.KillRequest{TeamName: crew, AgentID: "bob", Force: true})
	w.ok(err)
	// It had no tasks.
	if diff := cmp.Diff(agent.Killed{Agent: bob.AgentID, Phase: registry.ShutdownForceKilled, ReassignedTasks: []string{}}, k); diff != "" {
		t.Error(diff)
	}
	for _, force := range []bool{false, true} {
		_, err := w.kill("bob", force)
		w.refused("Agent 'bob' is already terminated", err)
	}
}

// TestTwoKillers has the leader kill from two processes at once.
func TestTwoKillers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	for _, tt := range []struct {
		name, loser string
		force       bool
		phase       registry.ShutdownPhase
	}{
		{"asked", "Agent already in shutdown. Use force=true to override.", false, registry.ShutdownRequested},
		{"forced", "Agent 'forced' is already terminated", true, registry.ShutdownForceKilled},
	} {
		m := w.spawn(tt.name, "process")
		task := m.task("work")
		var killed [2]agent.Killed
		var errs [2]error
		var wg sync.WaitGroup
		for i := range errs {
			h := w.host()
			wg.Go(func() {
				killed[i], errs[i] = agent.Kill(t.Context(), h, agent.KillRequest{TeamName: crew, AgentID: tt.name, Force: tt.force})
			})
		}
		wg.Wait()
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		w.ok(errs[winner])
		w.refused(tt.loser, errs[1-winner])
		if killed[winner].Phase != tt.phase {
			t.Errorf("%s: %+v", tt.name, killed[winner])
		}
		if tt.force && !cmp.Equal(killed[winner].ReassignedTasks, []string{task}) {
			t.Errorf("the winner reassigned %v", killed[winner].ReassignedTasks)
		}
	}
}

// TestEndNoticedFirst has another call record the end of an agent after its process was
// killed and before the kill records it. The kill is answered all the same.
func TestEndNoticedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	for _, asked := range []bool{false, true} {
		m := w.spawn("ann", "process")
		task := m.task("work")
		if asked {
			_, err := w.kill("ann", false)
			w.ok(err)
		}
		noticed := false
		k, err := agent.Kill(t.Context(), w.host(), agent.KillRequest{
			TeamName: crew, AgentID: "ann", Force: true, Reason: "at once",
			Progress: func(e kill.Event) {
				if e.Done {
					_, err := w.host().Sweeper().Sweep(t.Context(), crew)
					w.ok(err)
					w.is(m.AgentID, registry.AgentTerminated)
					noticed = true
				}
			},
		})
		w.ok(err)
		if diff := cmp.Diff(agent.Killed{Agent: m.AgentID, Phase: registry.ShutdownForceKilled, ReassignedTasks: []string{task}}, k); !noticed || diff != "" {
			t.Errorf("noticed before: %v (-want +got):\n%s", noticed, diff)
		}
		_, err = w.kill("ann", true)
		w.refused("Agent 'ann' is already terminated", err)
	}
}

func TestPaneGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	stays := w.spawn("stays", "tmux")
	for _, tt := range []struct {
		force bool
		want  registry.ShutdownPhase
	}{{false, registry.ShutdownConfirmed}, {true, registry.ShutdownForceKilled}} {
		m := w.spawn("ann", "tmux")
		task := m.task("work")
		cmd := exec.CommandContext(t.Context(), "tmux", "kill-pane", "-t", m.PaneID)
		cmd.Env = w.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !tt.force {
			// Else the kill itself meets the end.
			m.gone()
			w.is("ann", registry.AgentInactive)
		}
		k, err := w.kill("ann", tt.force)
		w.ok(err)
		if k.Phase != tt.want || len(k.Warnings) > 0 {
			t.Errorf("killed: %+v", k)
		}
		w.released(m, task)
		_, err = w.kill("ann2", true)
		w.ok(err)
	}
	w.is(stays.Name, registry.AgentActive)
}

func TestSurvivor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	m := w.spawn("ann", "stubborn")
	k, err := w.kill("ann", true)
	w.ok(err)
	if k.Phase != registry.ShutdownForceKilled || len(k.Warnings) != 1 || !strings.Contains(k.Warnings[0], "still alive: stone") {
		t.Errorf("killed: %+v", k)
	}
	w.is(m.AgentID, registry.AgentTerminated)
	ws, _, err := w.host().Workers(t.Context(), worker.Selection{Names: []string{m.Worker}})
	w.ok(err)
	if ws[0].Status != worker.StatusRunning {
		t.Errorf("the worker is %s", ws[0].Status)
	}
}

// TestBackendGone is an agent whose backend is not installed any more. Its shim is asked to end
// it.
func TestBackendGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	m := w.spawn("ann", "process")
	h, err := host.Open(t.Context(), host.Options{Dir: w.state(), Executable: "/nowhere/swarm", Env: []string{"PATH=/nowhere", "SWARM_SHIM=test"}})
	w.ok(err)
	defer func() { w.ok(h.Close()) }()
	k, err := agent.Kill(t.Context(), h, agent.KillRequest{TeamName: crew, AgentID: "ann", Force: true})
	w.ok(err)
	if k.Phase != registry.ShutdownForceKilled || len(k.Warnings) != 1 {
		t.Errorf("killed: %+v", k)
	}
	m.gone()
	w.is(m.AgentID, registry.AgentTerminated)
}

func TestTasksCannotBeReassigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	for _, force := range []bool{true, false} {
		m := w.spawn("ann", "process")
		m.task("work")
		w.execute("UPDATE tasks SET document = 'damaged'")
		var warnings []string
		if force {
			k, err := w.kill("ann", true)
			w.ok(err)
			warnings = k.Warnings
		} else {
			_, err := w.kill("ann", false)
			w.ok(err)
			warnings = m.call(call{Respond: &agent.RespondRequest{TeamName: crew, Approve: true, Ready: true}}).Warnings
		}
		if len(warnings) != 1 {
			t.Errorf("warnings: %q", warnings)
		}
		m.gone()
		w.is(m.AgentID, registry.AgentTerminated)
		w.execute("DELETE FROM tasks")
	}
}

// execute changes the database as no program of ours does.
func (w *world) execute(query string) {
	w.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.state(), registry.File))
	w.ok(err)
	defer func() { w.ok(db.Close()) }()
	_, err = db.ExecContext(w.Context(), query)
	w.ok(err)
}

// TestKilledAsWorker is an agent that is ended as what it is too, a worker.
func TestKilledAsWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	m := w.spawn("ann", "process")
	task := m.task("work")
	bob := w.spawn("bob", "process")
	_, err := w.as(bob.token).Kill().Kill(t.Context(), worker.Selection{Names: []string{m.Worker}}, kill.Request{})
	w.refused("Only the team leader can kill agents", err)
	_, err = w.host().Kill().Kill(t.Context(), worker.Selection{Names: []string{m.Worker}}, kill.Request{})
	w.ok(err)
	w.released(m, task)
}

// TestKilledFromInside is an agent in whose worker someone has the leader's token.
func TestKilledFromInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	m := w.spawn("ann", "process")
	task := m.task("work")
	boss := w.spawnIn(crew, "boss", "process", registry.RoleLeader)
	m.run("export SWARM_TOKEN=" + boss.token)
	got := m.call(call{Kill: &killCall{Team: crew, Agent: "ann", Force: true}})
	if diff := cmp.Diff(answer{Phase: registry.ShutdownForceKilled, Reassigned: []string{task}}, got); diff != "" {
		t.Error(diff)
	}
	m.gone()
	w.released(m, task)
}

func TestGaveUpWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	m := w.spawn("ann", "process")
	m.run("trap '' TERM; echo ready > ready")
	m.file("ready")
	ctx, cancel := context.WithCancel(t.Context())
	k, err := agent.Kill(ctx, w.host(), agent.KillRequest{TeamName: crew, AgentID: "ann", Force: true, Progress: func(kill.Event) { cancel() }})
	w.ok(err)
	if k.Phase != registry.ShutdownForceKilled || len(k.Warnings) > 0 {
		t.Errorf("killed: %+v", k)
	}
	m.gone()
	w.is(m.AgentID, registry.AgentTerminated)
}
