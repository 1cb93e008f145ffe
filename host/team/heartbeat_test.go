package team

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

func TestBeat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status registry.AgentStatus
		lost   bool
		say    registry.AgentStatus
		want   registry.AgentStatus
		err    error
	}{
		{registry.AgentActive, false, "", registry.AgentActive, nil},
		{registry.AgentActive, false, registry.AgentIdle, registry.AgentIdle, nil},
		{registry.AgentActive, false, registry.AgentActive, registry.AgentActive, nil},
		{registry.AgentIdle, false, "", registry.AgentIdle, nil},
		{registry.AgentIdle, false, registry.AgentActive, registry.AgentActive, nil},
		{registry.AgentInactive, false, "", registry.AgentActive, nil},
		{registry.AgentInactive, false, registry.AgentIdle, registry.AgentIdle, nil},
		{registry.AgentInactive, true, "", registry.AgentInactive, ErrInactive},
		{registry.AgentInactive, true, registry.AgentActive, registry.AgentInactive, ErrInactive},
		{registry.AgentSpawning, false, registry.AgentActive, registry.AgentSpawning, nil},
		{registry.AgentShuttingDown, false, registry.AgentActive, registry.AgentShuttingDown, nil},
		{registry.AgentTerminated, false, registry.AgentActive, registry.AgentTerminated, ErrHeartbeatTerminated},
	} {
		t.Run(string(c.status)+" "+string(c.say), func(t *testing.T) {
			t.Parallel()
			q := newSquad(t, "a")
			q.put("a", func(a *registry.Agent) {
				a.Status = c.status
				if c.lost {
					a.Lost = now
				}
			})
			// The leader speaks for it: one that is terminated can't.
			err := q.try(func(ctx context.Context, tx *registry.Tx) error {
				a, err := Beat(ctx, tx, person, crewTeam, "a", c.say, later)
				if err == nil && a.Status != c.want {
					t.Errorf("answered %s", a.Status)
				}
				return err
			})
			if !errors.Is(err, c.err) {
				t.Errorf("%v, want %v", err, c.err)
			}
			a := q.agent("a")
			if a.Status != c.want || a.Heartbeat.Equal(later) != (c.err == nil) {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestWhoBeats(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "b", "boss")
	for _, c := range []struct {
		caller Caller
		who    string
		say    registry.AgentStatus
		beaten string
		err    string
	}{
		{as("a"), "", "", "a", ""},
		{as("a"), "a", "", "a", ""},
		{as("a"), "agent-a", "", "a", ""},
		{as("a"), "b", "", "", "Only the team leader can heartbeat for other agents"},
		{as("a"), "ghost", "", "", "Agent 'ghost' not found"},
		{as("boss"), "b", "", "b", ""},
		{person, "b", "", "b", ""},
		{person, "", "", "", "Agent 'leader' not found"},
		{person, "ghost", "", "", "Agent 'ghost' not found"},
		{as("a"), "", registry.AgentTerminated, "", "Status 'terminated' is not one of active, idle"},
		{Caller{WorkerID: "w"}, "a", "", "", "Not a member of team 'red'"},
	} {
		refused(t, c.err, q.try(func(ctx context.Context, tx *registry.Tx) error {
			_, err := Beat(ctx, tx, c.caller, crewTeam, c.who, c.say, later)
			return err
		}))
		for _, name := range []string{"a", "b", "boss"} {
			if got := q.agent(name).Heartbeat; got.Equal(later) != (name == c.beaten) {
				t.Errorf("%s of %q: the heartbeat of %s is %v", c.caller.Name, c.who, name, got)
			}
			q.put(name, func(a *registry.Agent) { a.Heartbeat = now })
		}
	}
}

// A call of a moment ago does not make an agent older.
func TestTouch(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	q.put("a", func(a *registry.Agent) { a.Status = registry.AgentIdle })
	for _, d := range []time.Duration{time.Minute, time.Second} {
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			return errors.Join(Touch(ctx, tx, as("a"), at(d)), Touch(ctx, tx, person, at(d)), Touch(ctx, tx, Caller{WorkerID: "w"}, at(d)))
		})
	}
	if a := q.agent("a"); !a.Heartbeat.Equal(later) || a.Status != registry.AgentIdle {
		t.Errorf("%+v", a)
	}
	// One whose process is gone does not live again by a call with its token, and
	// gets nothing to do.
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		if _, err := CreateTask(ctx, tx, person, crewTeam, NewTask{Title: "t"}, later); err != nil {
			return err
		}
		_, err := Lost(ctx, tx, "agent-a", "", later)
		return err
	})
	refused(t, "Agent is inactive. Requires re-spawn.", q.try(func(ctx context.Context, tx *registry.Tx) error {
		_, err := ClaimTask(ctx, tx, as("a"), crewTeam, "task-1", at(time.Hour))
		return err
	}))
	if a := q.agent("a"); a.Status != registry.AgentInactive || !a.Heartbeat.Equal(later) {
		t.Errorf("%+v", a)
	}
}

// An agent may say that it has nothing to do before it is recorded that it runs.
func TestIdleFromTheStart(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	q.put("a", func(a *registry.Agent) { a.Status = registry.AgentSpawning })
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Beat(ctx, tx, as("a"), crewTeam, "", registry.AgentIdle, later)
		return errors.Join(err, Activate(ctx, tx, "agent-a", "", later))
	})
	if a := q.agent("a"); a.Status != registry.AgentIdle || a.Before != "" {
		t.Errorf("%+v", a)
	}
}
