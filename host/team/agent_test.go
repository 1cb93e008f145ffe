package team

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

func TestJoin(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "gone")
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Release(ctx, tx, "agent-gone", Departure{Phase: registry.ShutdownForceKilled}, now)
		return err
	})
	want := registry.Agent{
		Seq: 3, ID: "agent-b", Team: crewTeam, Name: "b", Role: registry.RoleReviewer, Model: "m", Color: colors[1], Session: "s", Dir: "/d", Prompt: "p",
		Status: registry.AgentSpawning, WorkerID: "w", Worker: "red-b", TokenHash: "t", Created: later, Heartbeat: later, ColorUsed: later,
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		j := Entry{Team: crewTeam, ID: "agent-b", Name: "b", Role: registry.RoleReviewer, Model: "m", Session: "s", Dir: "/d", Prompt: "p"}
		got, warning, err := Join(ctx, tx, j, "w", "red-b", "t", later)
		if diff := cmp.Diff(want, got); diff != "" || warning != "" {
			t.Errorf("joined, %q (-want +got):\n%s", warning, diff)
		}
		return err
	})
	if diff := cmp.Diff(want, q.agent("b")); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		// The name of one that has ended can be had again, and all else has a default.
		_, _, err := Join(ctx, tx, Entry{Team: crewTeam, ID: "agent-c", Name: "gone"}, "w-c", "red-c", "", now)
		if err != nil {
			return err
		}
		got, _, err := Join(ctx, tx, Entry{Team: crewTeam, ID: "agent-d"}, "w-d", "red-d", "", now)
		if got.Name != "agent-d" || got.Role != registry.RoleWorker || got.Session != "w-d" {
			t.Errorf("by default %+v", got)
		}
		return err
	})
	for _, c := range []struct {
		joining Entry
		want    string
	}{
		{Entry{Team: "green", ID: "agent-x"}, "Team 'green' does not exist"},
		{Entry{Team: crewTeam, ID: "agent-x", Name: "a"}, "Agent 'a' already exists in team 'red'"},
		{Entry{Team: crewTeam, ID: "agent-x", Name: "agent-a"}, "Agent 'agent-a' already exists in team 'red'"},
		{Entry{Team: crewTeam, ID: "a", Name: "x"}, "Agent 'a' already exists in team 'red'"},
		{Entry{Team: crewTeam, ID: "agent-a", Name: "x"}, "Agent 'agent-a' already exists in team 'red'"},
		{Entry{Team: crewTeam, ID: "agent-x", Name: "leader"}, `Invalid agent name "leader": Agent name must be 1 to 31 letters, digits, dots, hyphens or underscores, begin with a letter or digit, and not be one of leader, all, system`},
	} {
		refused(t, c.want, q.try(func(ctx context.Context, tx *registry.Tx) error {
			_, _, err := Join(ctx, tx, c.joining, "w-x", "red-x", "t-x", now)
			return err
		}))
	}
}

func TestActivate(t *testing.T) {
	t.Parallel()
	q := newSquad(t)
	for _, name := range []string{"a", "asked", "gone"} {
		q.enter(name)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, _, err := Ask(ctx, tx, person, crewTeam, "asked", "", now)
		_, rerr := Release(ctx, tx, "agent-gone", Departure{Phase: registry.ShutdownForceKilled}, now)
		return errors.Join(err, rerr)
	})
	activate := func(id string) error {
		return q.try(func(ctx context.Context, tx *registry.Tx) error { return Activate(ctx, tx, id, "%1", later) })
	}
	refused(t, "", activate("agent-a"))
	refused(t, "", activate("agent-asked"))
	refused(t, "Agent 'agent-gone' is already terminated", activate("agent-gone"))
	if err := activate("agent-ghost"); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if a := q.agent("a"); a.Status != registry.AgentActive || a.Pane != "%1" || !a.Heartbeat.Equal(later) {
		t.Errorf("%+v", a)
	}
	if a := q.agent("asked"); a.Status != registry.AgentShuttingDown || a.Before != registry.AgentActive || a.Pane != "%1" {
		t.Errorf("one that was asked to end: %+v", a)
	}
}

func TestUnjoin(t *testing.T) {
	t.Parallel()
	q := newSquad(t)
	for _, name := range []string{"a", "asked", "gone"} {
		q.enter(name)
	}
	task := q.works("a")
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, _, err := Ask(ctx, tx, person, crewTeam, "asked", "", now)
		_, rerr := Release(ctx, tx, "agent-gone", Departure{Phase: registry.ShutdownForceKilled}, now)
		return errors.Join(err, rerr)
	})
	for _, id := range []string{"agent-a", "agent-asked", "agent-gone", "agent-ghost"} {
		q.change(func(ctx context.Context, tx *registry.Tx) error { return Unjoin(ctx, tx, id, later) })
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		agents, _, err := tx.Agents(ctx, registry.AgentQuery{})
		if len(agents) != 1 || agents[0].ID != "agent-gone" {
			t.Errorf("agents %v", agents)
		}
		return err
	})
	if got := q.task(task); got.Status != registry.TaskPending || got.Owner != "" {
		t.Errorf("task %+v", got)
	}
	// As if it had never been there.
	q.enter("a")
	if q.shutdown("asked").ID != 0 {
		t.Error("a shutdown stays")
	}
}

func TestRejoin(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "asked", "lost", "gone")
	task := q.works("a")
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, _, err := Ask(ctx, tx, person, crewTeam, "asked", "", now)
		_, lerr := Lost(ctx, tx, "agent-lost", "why", now)
		_, rerr := Release(ctx, tx, "agent-gone", Departure{Phase: registry.ShutdownForceKilled}, now)
		return errors.Join(err, lerr, rerr)
	})
	rejoin := func(name string) error {
		return q.try(func(ctx context.Context, tx *registry.Tx) error {
			return Rejoin(ctx, tx, "agent-"+name, "new-"+name, "red-"+name, "n-"+name, later)
		})
	}
	for _, name := range []string{"a", "asked", "lost"} {
		before := q.agent(name)
		refused(t, "", rejoin(name))
		want := before
		want.Status, want.Before, want.WorkerID, want.Session, want.TokenHash = registry.AgentSpawning, "", "new-"+name, "new-"+name, "n-"+name
		want.Pane, want.Heartbeat, want.Lost, want.Rotations = "", later, time.Time{}, 1
		if diff := cmp.Diff(want, q.agent(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		q.change(func(ctx context.Context, tx *registry.Tx) error { return Activate(ctx, tx, "agent-"+name, "", later) })
		if got := q.agent(name).Status; got != registry.AgentActive {
			t.Errorf("%s is %s", name, got)
		}
	}
	refused(t, "Agent 'agent-gone' is already terminated", rejoin("gone"))
	if got := q.task(task); got.Owner != "agent-a" {
		t.Errorf("the task that it works on: %+v", got)
	}
	// The request is dropped: no agent hears of it, and the next one is asked anew.
	if s := q.shutdown("asked"); s.Phase != registry.ShutdownRejected || !s.Answered {
		t.Errorf("shutdown %+v", s)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := ByToken(ctx, tx, "t-a")
		if !errors.Is(err, ErrUnknownToken) {
			t.Errorf("the old token: %v", err)
		}
		_, s, err := Ask(ctx, tx, person, crewTeam, "asked", "", later)
		if s.Phase != registry.ShutdownRequested {
			t.Errorf("asked again: %+v", s)
		}
		return err
	})
}

func TestAbandon(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "gone")
	task := q.works("a")
	before := q.agent("a")
	for _, name := range []string{"a", "gone"} {
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			return Rejoin(ctx, tx, "agent-"+name, "new-"+name, "red-"+name, "n-"+name, later)
		})
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Release(ctx, tx, "agent-gone", Departure{Phase: registry.ShutdownForceKilled}, later)
		return err
	})
	for _, name := range []string{"a", "gone"} {
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			_, err := Abandon(ctx, tx, "agent-"+name, "w-"+name, "red-"+name, "no such command", at(time.Hour))
			return err
		})
	}
	want := before
	want.Status, want.Lost, want.LastError, want.TokenHash, want.Pane, want.Heartbeat = registry.AgentInactive, at(time.Hour), "no such command", "", "", later
	if diff := cmp.Diff(want, q.agent("a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := q.task(task); got.Status != registry.TaskPending {
		t.Errorf("task %+v", got)
	}
	if got := q.agent("gone"); got.Status != registry.AgentTerminated {
		t.Errorf("one that was ended meanwhile is %s", got.Status)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "gone")
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Release(ctx, tx, "agent-gone", Departure{Phase: registry.ShutdownForceKilled}, now)
		if err != nil {
			return err
		}
		_, err = Create(ctx, tx, person, New{Name: "blue"}, now)
		return err
	})
	find := func(team, who string) (string, error) {
		var a registry.Agent
		err := q.try(func(ctx context.Context, tx *registry.Tx) (err error) {
			a, err = Find(ctx, tx, team, who)
			return err
		})
		return a.ID, err
	}
	for _, c := range []struct{ team, who, id, err string }{
		{crewTeam, "a", "agent-a", ""},
		{crewTeam, "agent-a", "agent-a", ""},
		{crewTeam, "gone", "agent-gone", ""},
		{crewTeam, "ghost", "", "Agent 'ghost' not found"},
		{crewTeam, "", "", "Agent '' not found"},
		{crewTeam, "leader", "", "Agent 'leader' not found"},
		{"blue", "agent-a", "", "Agent 'agent-a' not found"},
		{"green", "agent-a", "", "Team 'green' does not exist"},
	} {
		id, err := find(c.team, c.who)
		if id != c.id {
			t.Errorf("%s of %s is %q, want %q", c.who, c.team, id, c.id)
		}
		refused(t, c.err, err)
	}
	// The name of one that is there is not that of one that was.
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, _, err := Join(ctx, tx, Entry{Team: crewTeam, ID: "agent-new", Name: "gone"}, "w-n", "red-n", "", now)
		return err
	})
	if id, err := find(crewTeam, "gone"); id != "agent-new" {
		t.Errorf("gone is %q, %v", id, err)
	}
	refused(t, "Agent 'x' not found in team 'red'", &NoAgentError{Agent: "x", InTeam: crewTeam})
}

// One that can't be read is not one that is not there.
func TestFindUnreadable(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "b")
	q.spoil("UPDATE agents SET heartbeat_ns = 'soon' WHERE id = 'agent-a'")
	for who, want := range map[string]string{"agent-b": "", "agent-a": "agent 'agent-a'", "ghost": "Agent 'ghost' not found"} {
		err := q.try(func(ctx context.Context, tx *registry.Tx) error {
			_, err := Find(ctx, tx, crewTeam, who)
			return err
		})
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", who, err, want)
		}
	}
	// It has no rights, and the rest of the team lives on.
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		if _, err := ByToken(ctx, tx, "t-a"); !errors.Is(err, ErrUnknownToken) {
			t.Errorf("its token: %v", err)
		}
		warnings, err := Sweep(ctx, tx, crewTeam, map[string]Signs{"w-a": {}, "w-b": {}}, at(time.Hour))
		if len(warnings) != 1 || !strings.Contains(warnings[0], "'agent-a'") {
			t.Errorf("warnings %q", warnings)
		}
		return err
	})
	if got := q.agent("b").Status; got != registry.AgentInactive {
		t.Errorf("the other one is %s", got)
	}
}
