package agent_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

func TestApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	a := w.spawn("ann", "tmux")
	if a.PaneID == "" {
		t.Error("the agent has no pane")
	}
	w.is("ann", registry.AgentActive)
	task := a.task("work")

	k, err := w.kill(a.AgentID, false)
	w.ok(err)
	if diff := cmp.Diff(agent.Killed{Agent: a.AgentID, Phase: registry.ShutdownRequested}, k); diff != "" {
		t.Error(diff)
	}
	w.is("ann", registry.AgentShuttingDown)
	_, err = w.kill("ann", false)
	w.refused("Agent already in shutdown. Use force=true to override.", err)
	if in := w.inbox(w.as(a.token)); len(in) != 1 || in[0].Type != registry.MessageShutdownRequest {
		t.Errorf("inbox of the agent: %+v", in)
	}

	// It continues for a while.
	got := a.call(call{Respond: &agent.RespondRequest{TeamName: crew, Approve: true, Reason: "soon"}})
	if diff := cmp.Diff(answer{Phase: registry.ShutdownApproved}, got); diff != "" {
		t.Error(diff)
	}
	w.is("ann", registry.AgentShuttingDown)

	got = a.call(call{Respond: &agent.RespondRequest{TeamName: crew, Approve: true, Ready: true}})
	if diff := cmp.Diff(answer{Phase: registry.ShutdownConfirmed, Reassigned: []string{task}}, got); diff != "" {
		t.Error(diff)
	}
	a.gone()
	w.released(a, task)
	if in := w.inbox(w.host()); len(in) != 2 || in[0].Type != registry.MessageShutdownApproved || in[1].Type != registry.MessageShutdownApproved {
		t.Errorf("inbox of the leader: %+v", in)
	}
	_, err = w.kill(a.AgentID, false)
	w.refused("Agent '"+a.AgentID+"' is already terminated", err)
}

// released wants nothing to be left of an agent that worked on a task.
func (w *world) released(a *member, task string) {
	w.Helper()
	w.is(a.AgentID, registry.AgentTerminated)
	_, err := w.as(a.token).Callers().Caller(w.Context())
	w.refused("Unknown agent token", err)
	w.change(w.host(), func(ctx context.Context, tx *registry.Tx, c team.Caller) error {
		members, err := tx.Members(ctx, crew)
		for _, m := range members {
			if m.ID == a.AgentID {
				w.Errorf("%s is a member still", a.Name)
			}
		}
		w.ok(err)
		tasks, err := team.Tasks(ctx, tx, c, crew, "", "")
		for _, t := range tasks {
			if team.TaskID(t.N) != task {
				continue
			}
			if t.Status != registry.TaskPending || t.Owner != "" || !t.Claimed.IsZero() || t.Warning != "Reassigned: previous owner "+a.AgentID+" terminated" {
				w.Errorf("task: %+v", t)
			}
		}
		return err
	})
	// Its name and its colour are free.
	next := w.spawn(a.Name+"2", "process")
	if next.Color != a.Color {
		w.Errorf("the next agent is %s, not %s", next.Color, a.Color)
	}
}

func TestRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	a := w.spawn("ann", "process")
	_, err := agent.Heartbeat(t.Context(), w.as(a.token), agent.HeartbeatRequest{TeamName: crew, Status: registry.AgentIdle})
	w.ok(err)
	_, err = w.kill("ann", false)
	w.ok(err)

	got := a.call(call{Respond: &agent.RespondRequest{TeamName: crew, Reason: "busy"}})
	if diff := cmp.Diff(answer{Phase: registry.ShutdownRejected}, got); diff != "" {
		t.Error(diff)
	}
	w.is("ann", registry.AgentIdle)
	if in := w.inbox(w.host()); len(in) != 1 || in[0].Type != registry.MessageShutdownApproved {
		t.Errorf("inbox of the leader: %+v", in)
	}

	for _, want := range []agent.Killed{
		{Agent: a.AgentID, Phase: registry.ShutdownRejected, Reason: "busy"}, // once
		{Agent: a.AgentID, Phase: registry.ShutdownRequested},
	} {
		k, err := w.kill("ann", false)
		w.ok(err)
		if diff := cmp.Diff(want, k); diff != "" {
			t.Error(diff)
		}
	}
	task := a.task("work")
	k, err := w.kill("ann", true)
	w.ok(err)
	if diff := cmp.Diff(agent.Killed{Agent: a.AgentID, Phase: registry.ShutdownForceKilled, ReassignedTasks: []string{task}}, k); diff != "" {
		t.Error(diff)
	}
	a.gone()
	w.released(a, task)
}

// TestConfirmedFromElsewhere is an agent whose tools run outside its worker.
func TestConfirmedFromElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	a := w.spawn("ann", "process")
	_, err := w.kill("ann", false)
	w.ok(err)
	r, err := agent.Respond(t.Context(), w.as(a.token), agent.RespondRequest{TeamName: crew, Approve: true, Ready: true})
	w.ok(err)
	if r.AfterAnswer != nil || r.Phase != registry.ShutdownConfirmed || len(r.Warnings) > 0 {
		t.Errorf("answer: %+v", r)
	}
	a.gone()
	w.is(a.AgentID, registry.AgentTerminated)
}

// TestConfirmedWithoutShim is an agent whose backend does not learn that it is done.
func TestConfirmedWithoutShim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	a := w.spawn("ann", "bare")
	task := a.task("work")
	_, err := w.kill("ann", false)
	w.ok(err)
	got := a.call(call{Respond: &agent.RespondRequest{TeamName: crew, Approve: true, Ready: true}})
	if diff := cmp.Diff(answer{Phase: registry.ShutdownConfirmed, Reassigned: []string{task}}, got); diff != "" {
		t.Error(diff)
	}
	a.gone()
	w.released(a, task)
}

func TestNothingToAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	a := w.spawn("ann", "process")
	for _, approve := range []bool{true, false} {
		_, err := agent.Respond(t.Context(), w.as(a.token), agent.RespondRequest{TeamName: crew, Approve: approve, Ready: true})
		w.refused("No shutdown request to respond to", err)
		_, err = agent.Respond(t.Context(), w.host(), agent.RespondRequest{TeamName: crew, Approve: approve, Ready: true})
		w.refused("No shutdown request to respond to", err)
	}
	w.is("ann", registry.AgentActive)
	_, err := agent.Respond(t.Context(), w.as("0000"), agent.RespondRequest{TeamName: crew, Approve: true})
	w.refused("Unknown agent token", err)
}

// TestAwaitAnswer waits for each answer that there is, and for the end of an agent
// that gives none.
func TestAwaitAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(crew)
	for name, tt := range map[string]struct {
		does func(*member)
		want agent.Killed
	}{
		"approves": {
			func(m *member) {
				m.call(call{Respond: &agent.RespondRequest{TeamName: crew, Approve: true, Ready: true}})
			},
			agent.Killed{Phase: registry.ShutdownConfirmed},
		},
		"rejects": {
			func(m *member) { m.call(call{Respond: &agent.RespondRequest{TeamName: crew, Reason: "no"}}) },
			agent.Killed{Phase: registry.ShutdownRejected, Reason: "no"},
		},
		"forced": {
			func(m *member) {
				// A caller that waits for the answer may notice the end first, and record it.
				k, err := w.kill(m.Name, true)
				w.ok(err)
				if k.Phase != registry.ShutdownForceKilled || k.Agent != m.AgentID {
					t.Errorf("the kill answers %+v", k)
				}
			},
			agent.Killed{Phase: registry.ShutdownForceKilled},
		},
		"leaves": {
			func(m *member) { m.run("exit 0") },
			agent.Killed{Phase: registry.ShutdownConfirmed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := w.spawn(name, "process")
			_, err := w.kill(name, false)
			w.ok(err)
			type result struct {
				killed agent.Killed
				err    error
			}
			answered := make(chan result)
			h := w.host()
			go func() {
				k, err := agent.AwaitAnswer(t.Context(), h, crew, name)
				answered <- result{k, err}
			}()
			tt.does(m)
			got := <-answered
			w.ok(got.err)
			tt.want.Agent = m.AgentID
			if got.killed.ReassignedTasks = nil; !cmp.Equal(tt.want, got.killed) {
				t.Error(cmp.Diff(tt.want, got.killed))
			}
		})
	}
	// The rejection was answered.
	k, err := w.kill("rejects", false)
	w.ok(err)
	if k.Phase != registry.ShutdownRequested {
		t.Errorf("the next kill is %s", k.Phase)
	}
}
