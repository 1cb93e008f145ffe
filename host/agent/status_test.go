package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := agent.Status(t.Context(), w.host(), agent.StatusRequest{TeamName: crew})
	w.refused("Team 'crew' does not exist", err)
	if _, err := os.Stat(w.state()); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a status has made the state directory")
	}
	w.create(crew)
	w.create("other")
	ann, bob, cal := w.spawn("ann", "process"), w.spawn("bob", "process"), w.spawn("cal", "process")
	zoe := w.spawnIn("other", "zoe", "process", "")
	_, err = agent.Heartbeat(t.Context(), w.as(bob.token), agent.HeartbeatRequest{TeamName: crew, Status: registry.AgentIdle})
	w.ok(err)
	_, err = w.kill("cal", true)
	w.ok(err)

	got, err := agent.Status(t.Context(), w.as(ann.token), agent.StatusRequest{TeamName: crew, IncludeServer: true})
	w.ok(err)
	if diff := cmp.Diff(agent.Summary{Total: 2, Active: 1, Idle: 1}, got.Summary); diff != "" || len(got.Agents) != 2 {
		t.Errorf("agents %+v\n%s", got.Agents, diff)
	}
	if got.Server != nil {
		t.Errorf("a server that there is not: %+v", got.Server)
	}
	a := got.Agents[0]
	if a.AgentID != ann.AgentID || a.Name != "ann" || a.Role != registry.RoleWorker || a.Model != "m1" || !a.IsActive || !a.HeartbeatHealthy || a.ConsecutiveMisses != 0 ||
		a.Color != "#FF6B6B" || a.SessionID == "" || a.SessionID != ann.SessionID || a.Cwd != ann.dir || a.HeartbeatAge > 30 || a.CreatedAt.IsZero() {
		t.Errorf("ann: %+v", a)
	}
	if got, err = agent.Status(t.Context(), w.host(), agent.StatusRequest{TeamName: crew, IncludeTerminated: true}); err != nil || got.Summary.Terminated != 1 || got.Summary.Total != 3 {
		t.Errorf("with those that are terminated: %+v, %v", got, err)
	}
	if c := w.status(cal.AgentID); c.Status != registry.AgentTerminated || c.IsActive || c.TerminatedAt.IsZero() || c.LastError != "Force killed: enough" {
		t.Errorf("cal: %+v", c)
	}

	for _, who := range []string{"ghost", zoe.AgentID, "zoe", "leader"} {
		_, err = agent.Status(t.Context(), w.host(), agent.StatusRequest{TeamName: crew, AgentID: who})
		w.refused("Agent '"+who+"' not found in team 'crew'", err)
	}
	_, err = agent.Status(t.Context(), w.as(zoe.token), agent.StatusRequest{TeamName: crew})
	w.refused("Not a member of team 'crew'", err)
	_, err = agent.Status(t.Context(), w.as("beef"), agent.StatusRequest{TeamName: crew})
	w.refused("Unknown agent token", err)
}

// TestStatusChangesNothing looks at agents of whom much is to be recorded.
func TestStatusChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createServed()
	ann, bob := w.spawn("ann", "process"), w.spawn("bob", "process")
	w.spawn("cal", "process")
	ann.task("work")
	_, err := w.kill("bob", false)
	w.ok(err)
	ann.run("exit 3")
	bob.run("exit 0")
	ann.gone()
	bob.gone()

	before := w.database()
	for _, r := range []agent.StatusRequest{
		{TeamName: crew, IncludeServer: true, IncludeTerminated: true}, {TeamName: crew, AgentID: "ann"}, {TeamName: crew, AgentID: "ghost"}, {TeamName: "nowhere"},
	} {
		s, err := agent.Status(t.Context(), w.host(), r)
		if r.AgentID == "" && r.TeamName == crew {
			w.ok(err)
			if diff := cmp.Diff(agent.Summary{Total: 3, Active: 1, Inactive: 1, ShuttingDown: 1}, s.Summary); diff != "" {
				t.Error(diff)
			}
		}
	}
	if !bytes.Equal(before, w.database()) {
		t.Error("the database has changed")
	}
	// A call that changes something records all of it.
	_, err = agent.Heartbeat(t.Context(), w.host(), agent.HeartbeatRequest{TeamName: crew, AgentID: "cal"})
	w.ok(err)
	if bytes.Equal(before, w.database()) {
		t.Error("the database has not changed")
	}
	if a := w.status("ann"); a.Status != registry.AgentInactive || a.LastError != "exit status 3" {
		t.Errorf("ann: %+v", a)
	}
	w.is(bob.AgentID, registry.AgentTerminated)
	var reported bool
	for _, m := range w.inbox(w.host()) {
		reported = reported || m.Type == registry.MessageSystem && strings.HasPrefix(m.Body, "Agent ann ("+ann.AgentID+") became inactive: exit status 3. Tasks reassigned: task-1.")
	}
	if !reported {
		t.Error("the leader got no report of ann")
	}
}

// database returns the content of the database's files.
func (w *world) database() []byte {
	w.Helper()
	var all []byte
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(filepath.Join(w.state(), registry.File+suffix))
		if !errors.Is(err, fs.ErrNotExist) {
			w.ok(err)
		}
		all = append(all, b...)
	}
	return all
}

// TestUnreadableAgent is a row that was damaged: no one else suffers from it.
func TestUnreadableAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	ann := w.spawn("ann", "process")
	w.spawn("bob", "process")
	w.execute("UPDATE agents SET created_ns = 'damaged' WHERE name = 'ann'")
	for _, who := range []string{"", ann.AgentID} {
		s, err := agent.Status(t.Context(), w.host(), agent.StatusRequest{TeamName: crew, AgentID: who})
		w.ok(err)
		if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], ann.AgentID) || len(s.Agents) != s.Summary.Total {
			t.Errorf("status: %+v", s)
		}
	}
	_, err := w.kill("bob", true)
	w.ok(err)
}

func TestHeartbeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	ann, bob := w.spawn("ann", "process"), w.spawn("bob", "process")
	beat := func(h *host.Host, who string, status registry.AgentStatus) (agent.Beat, error) {
		return agent.Heartbeat(t.Context(), h, agent.HeartbeatRequest{TeamName: crew, AgentID: who, Status: status})
	}
	b, err := beat(w.as(ann.token), "", registry.AgentIdle)
	w.ok(err)
	if b.AgentStatus != registry.AgentIdle || b.NextDeadline.Sub(b.HeartbeatTS.Time) != time.Minute {
		t.Errorf("beat: %+v", b)
	}
	ann.age(90 * time.Second)
	if a := w.status("ann"); a.HeartbeatHealthy || a.ConsecutiveMisses != 0 || a.Status != registry.AgentIdle {
		t.Errorf("idle and silent: %+v", a)
	}
	if b, err = beat(w.as(ann.token), "ann", ""); err != nil || b.AgentStatus != registry.AgentIdle || !w.status("ann").HeartbeatHealthy {
		t.Errorf("beat: %+v, %v", b, err)
	}
	_, err = beat(w.as(ann.token), "bob", "")
	w.refused("Only the team leader can heartbeat for other agents", err)
	_, err = beat(w.host(), "ghost", "")
	w.refused("Agent 'ghost' not found", err)
	if _, err = beat(w.host(), "bob", registry.AgentShuttingDown); err == nil {
		t.Error("a heartbeat has any status")
	}

	bob.run("exit 1")
	bob.gone()
	_, err = beat(w.host(), "bob", "")
	w.refused("Agent is inactive. Requires re-spawn.", err)
	_, err = w.kill("bob", false)
	w.ok(err)
	_, err = beat(w.host(), bob.AgentID, "")
	w.refused("Cannot heartbeat for terminated agent", err)
}

// age has the last sign of life of an agent be that long ago.
func (m *member) age(d time.Duration) {
	m.w.Helper()
	old := time.Now().Add(-d)
	m.w.ok(os.Chtimes(filepath.Join(m.w.state(), "workers", m.SessionID, "output.log"), old, old))
	m.w.execute(fmt.Sprintf("UPDATE agents SET heartbeat_ns = %d WHERE id = '%s'", old.UnixNano(), m.AgentID))
}

// TestSilent is an agent that lives and says nothing for two minutes.
func TestSilent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	ann := w.spawn("ann", "process")
	task := ann.task("work")
	ann.age(130 * time.Second)
	_, err := agent.Heartbeat(t.Context(), w.as(ann.token), agent.HeartbeatRequest{TeamName: crew})
	w.ok(err)
	if in := w.inbox(w.host()); len(in) > 0 {
		t.Errorf("it calls, and the leader got %+v", in)
	}
	ann.age(130 * time.Second)
	if a := w.status("ann"); a.Status != registry.AgentInactive || a.ConsecutiveMisses != 2 || a.HeartbeatHealthy {
		t.Errorf("silent: %+v", a)
	}
	_, err = w.host().Sweeper().Sweep(t.Context(), crew)
	w.ok(err)
	if in := w.inbox(w.host()); len(in) != 1 || in[0].Type != registry.MessageSystem {
		t.Errorf("inbox of the leader: %+v", in)
	}
	ann.change(func(ctx context.Context, tx *registry.Tx, c team.Caller) error {
		tasks, err := team.Tasks(ctx, tx, c, crew, registry.TaskInProgress, "ann")
		if err == nil && (len(tasks) != 1 || team.TaskID(tasks[0].N) != task) {
			t.Errorf("its tasks: %+v", tasks)
		}
		return err
	})
	// It speaks.
	ann.run("echo hello")
	w.wait("ann is active", func() bool { return w.status("ann").Status == registry.AgentActive })
	if _, err = w.kill("ann", false); err != nil {
		t.Error(err)
	}
	w.is("ann", registry.AgentShuttingDown)
}
