package team

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	gone, none := Signs{Gone: true}, Signs{}
	wrote := func(d time.Duration) Signs { return Signs{Output: at(d)} }
	for _, c := range []struct {
		status  registry.AgentStatus
		lost    bool
		signs   Signs
		age     time.Duration // since the heartbeat, at now
		want    registry.AgentStatus
		healthy bool
		misses  int
		wantAge time.Duration
	}{
		{registry.AgentActive, false, none, 0, registry.AgentActive, true, 0, 0},
		{registry.AgentActive, false, none, minute - 1, registry.AgentActive, true, 0, minute - 1},
		{registry.AgentActive, false, none, minute, registry.AgentActive, false, 1, minute},
		{registry.AgentActive, false, none, 2*minute - 1, registry.AgentActive, false, 1, 2*minute - 1},
		{registry.AgentActive, false, none, 2 * minute, registry.AgentInactive, false, 2, 2 * minute},
		{registry.AgentActive, false, none, time.Hour, registry.AgentInactive, false, 60, time.Hour},
		{registry.AgentActive, false, none, -minute, registry.AgentActive, true, 0, 0}, // another clock
		{registry.AgentActive, false, gone, 0, registry.AgentInactive, true, 0, 0},
		{registry.AgentActive, false, wrote(time.Hour), time.Hour, registry.AgentActive, true, 0, 0},
		{registry.AgentActive, false, wrote(50 * minute), time.Hour, registry.AgentInactive, false, 10, 10 * minute},
		{registry.AgentActive, false, wrote(-minute), minute, registry.AgentActive, false, 1, minute},
		{registry.AgentIdle, false, none, time.Hour, registry.AgentIdle, false, 0, time.Hour},
		{registry.AgentIdle, false, gone, 0, registry.AgentInactive, true, 0, 0},
		{registry.AgentInactive, false, none, time.Hour, registry.AgentInactive, false, 60, time.Hour},
		{registry.AgentInactive, false, wrote(time.Hour), time.Hour, registry.AgentActive, true, 0, 0},
		{registry.AgentInactive, true, wrote(time.Hour), time.Hour, registry.AgentInactive, true, 0, 0},
		{registry.AgentInactive, false, gone, 0, registry.AgentInactive, true, 0, 0},
		{registry.AgentSpawning, false, none, time.Hour, registry.AgentSpawning, false, 0, time.Hour},
		{registry.AgentSpawning, false, gone, 0, registry.AgentInactive, true, 0, 0},
		{registry.AgentShuttingDown, false, none, time.Hour, registry.AgentShuttingDown, false, 0, time.Hour},
		{registry.AgentShuttingDown, false, gone, 0, registry.AgentShuttingDown, true, 0, 0},
		{registry.AgentTerminated, false, none, time.Hour, registry.AgentTerminated, false, 0, time.Hour},
		// Silence means nothing while the screen says that it is well.
		{registry.AgentActive, false, Signs{Shows: registry.AgentActive}, time.Hour, registry.AgentActive, false, 60, time.Hour},
		{registry.AgentActive, false, Signs{Shows: registry.AgentIdle}, time.Hour, registry.AgentIdle, false, 0, time.Hour},
		{registry.AgentInactive, false, Signs{Shows: registry.AgentActive}, time.Hour, registry.AgentActive, false, 60, time.Hour},
		{registry.AgentIdle, false, Signs{Shows: registry.AgentActive}, time.Hour, registry.AgentActive, false, 60, time.Hour},
		{registry.AgentIdle, false, Signs{Shows: registry.AgentIdle}, time.Hour, registry.AgentIdle, false, 0, time.Hour},
		{registry.AgentActive, false, Signs{Gone: true, Shows: registry.AgentActive}, 0, registry.AgentInactive, true, 0, 0},
		{registry.AgentInactive, true, Signs{Shows: registry.AgentActive}, time.Hour, registry.AgentInactive, false, 60, time.Hour},
		{registry.AgentShuttingDown, false, Signs{Shows: registry.AgentIdle}, time.Hour, registry.AgentShuttingDown, false, 0, time.Hour},
		{registry.AgentTerminated, false, Signs{Shows: registry.AgentIdle}, time.Hour, registry.AgentTerminated, false, 0, time.Hour},
		{registry.AgentTerminated, false, gone, 0, registry.AgentTerminated, true, 0, 0},
	} {
		t.Run(fmt.Sprintf("%s %v %+v", c.status, c.age, c.signs), func(t *testing.T) {
			t.Parallel()
			a := registry.Agent{Status: c.status, Heartbeat: now, LastError: "before"}
			if c.lost {
				a.Lost = now
			}
			got := Judge(&a, c.signs, at(c.age))
			want := Health{
				Status: c.want, Active: c.want == registry.AgentActive || c.want == registry.AgentIdle, Seen: now, Age: c.wantAge, Healthy: c.healthy, Misses: c.misses,
				Error: "before",
			}
			switch {
			case c.want == registry.AgentInactive && c.signs.Gone:
				want.Error = "its process ended"
			case c.want == registry.AgentInactive && c.status == registry.AgentActive:
				want.Error = fmt.Sprintf("Heartbeat timeout: %ds since last heartbeat", int(c.wantAge.Seconds()))
			}
			if c.signs.Output.After(now) {
				want.Seen = c.signs.Output
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func (q squad) sweep(team string, signs map[string]Signs, now time.Time) {
	q.t.Helper()
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		warnings, err := Sweep(ctx, tx, team, signs, now)
		if warnings != nil {
			q.t.Errorf("warnings %q", warnings)
		}
		return err
	})
}

// notices returns what swarm itself sent to the leader.
func (q squad) notices() (texts []string) {
	q.t.Helper()
	for _, m := range q.inbox(Leader) {
		if m.Type == registry.MessageSystem && m.Sender == system {
			texts = append(texts, m.Body)
		}
	}
	return texts
}

// A silent agent is inactive, keeps its tasks, and is active again with its next
// sign of life. The leader is notified each time that it fell silent, once.
func TestSweepOfSilence(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	task := q.works("a")
	alive := map[string]Signs{"w-a": {}}
	for _, step := range []struct {
		signs  map[string]Signs
		at     time.Duration
		status registry.AgentStatus
		sent   int
	}{
		{alive, 119 * time.Second, registry.AgentActive, 0},
		{nil, time.Hour, registry.AgentActive, 0}, // no one knows
		{alive, 2 * time.Minute, registry.AgentInactive, 1},
		{alive, 3 * time.Minute, registry.AgentInactive, 1},
		{map[string]Signs{"w-a": {Output: at(time.Minute)}}, 3 * time.Minute, registry.AgentInactive, 1},
		{map[string]Signs{"w-a": {Output: at(3 * time.Minute)}}, 4 * time.Minute, registry.AgentActive, 1},
		{map[string]Signs{"w-a": {Output: at(3 * time.Minute)}}, 5 * time.Minute, registry.AgentInactive, 2},
	} {
		q.sweep(crewTeam, step.signs, at(step.at))
		a := q.agent("a")
		if a.Status != step.status || len(q.notices()) != step.sent || !a.Heartbeat.Equal(now) {
			t.Errorf("after %v: %+v, sent %q", step.at, a, q.notices())
		}
	}
	if got := q.notices()[0]; got != "Agent a (agent-a) became inactive: Heartbeat timeout: 120s since last heartbeat. Its tasks stay with it." {
		t.Errorf("sent %q", got)
	}
	if got := q.agent("a").LastError; got != "Heartbeat timeout: 120s since last heartbeat" {
		t.Errorf("last error %q", got)
	}
	if got := q.task(task); got.Owner != "agent-a" {
		t.Errorf("task %+v", got)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error { return Touch(ctx, tx, as("a"), at(6*time.Minute)) })
	if a := q.agent("a"); a.Status != registry.AgentActive || !a.Heartbeat.Equal(at(6*time.Minute)) {
		t.Errorf("after a call: %+v", a)
	}
}

// The facts about one team do not change another.
func TestSweepOfOneTeam(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		if _, err := Create(ctx, tx, person, New{Name: "blue"}, now); err != nil {
			return err
		}
		_, _, err := Join(ctx, tx, Entry{Team: "blue", ID: "agent-b"}, "w-b", "blue-b", "", now)
		return err
	})
	signs := map[string]Signs{"w-a": {Gone: true}, "w-b": {Gone: true}}
	for _, step := range []struct {
		team string
		a, b registry.AgentStatus
	}{
		{"blue", registry.AgentActive, registry.AgentInactive},
		{"green", registry.AgentActive, registry.AgentInactive},
		{"", registry.AgentInactive, registry.AgentInactive},
	} {
		q.sweep(step.team, signs, now)
		if a, b := q.agent("a").Status, q.agent("b").Status; a != step.a || b != step.b {
			t.Errorf("after %q: %s, %s", step.team, a, b)
		}
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status registry.AgentStatus
		end    End
		want   registry.AgentStatus
		phase  registry.ShutdownPhase
		sent   string
	}{
		{registry.AgentActive, End{Killed: true}, registry.AgentTerminated, registry.ShutdownForceKilled, ""},
		{registry.AgentIdle, End{Killed: true}, registry.AgentTerminated, registry.ShutdownForceKilled, ""},
		{registry.AgentInactive, End{Killed: true}, registry.AgentTerminated, registry.ShutdownForceKilled, ""},
		{registry.AgentSpawning, End{Killed: true}, registry.AgentTerminated, registry.ShutdownForceKilled, ""},
		{registry.AgentShuttingDown, End{Killed: true}, registry.AgentTerminated, registry.ShutdownForceKilled, ""},
		{registry.AgentActive, End{Reason: "exit status 3"}, registry.AgentInactive, "", "Agent a (agent-a) became inactive: exit status 3. Tasks reassigned: task-1."},
		{registry.AgentIdle, End{Reason: "success"}, registry.AgentInactive, "", "Agent a (agent-a) became inactive: success. Tasks reassigned: task-1."},
		{registry.AgentInactive, End{}, registry.AgentInactive, "", "Agent a (agent-a) became inactive: its process ended. Tasks reassigned: task-1."},
		{registry.AgentSpawning, End{Reason: "spawn was interrupted"}, registry.AgentInactive, "", "Agent a (agent-a) became inactive: spawn was interrupted. Tasks reassigned: task-1."},
		{registry.AgentShuttingDown, End{Reason: "success"}, registry.AgentTerminated, registry.ShutdownConfirmed, ""},
		{registry.AgentTerminated, End{Killed: true}, registry.AgentTerminated, registry.ShutdownConfirmed, ""},
		{registry.AgentTerminated, End{}, registry.AgentTerminated, registry.ShutdownConfirmed, ""},
	} {
		t.Run(fmt.Sprintf("%s killed %v", c.status, c.end.Killed), func(t *testing.T) {
			t.Parallel()
			q := newSquad(t, "a")
			task := q.works("a")
			var err error
			switch c.status {
			case registry.AgentShuttingDown:
				_, err = q.ask(person, "a", "")
			case registry.AgentTerminated:
				_, err = q.release("a", Departure{Phase: registry.ShutdownConfirmed})
			case registry.AgentSpawning, registry.AgentActive, registry.AgentIdle, registry.AgentInactive:
				q.put("a", func(a *registry.Agent) { a.Status = c.status })
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				q.change(func(ctx context.Context, tx *registry.Tx) error {
					warnings, err := Ended(ctx, tx, "w-a", c.end, at(time.Hour))
					if warnings != nil {
						t.Errorf("warnings %q", warnings)
					}
					return err
				})
			}
			a := q.agent("a")
			if a.Status != c.want || q.shutdown("a").Phase != c.phase || (a.TokenHash == "") != (c.want == registry.AgentTerminated) {
				t.Errorf("%+v, shutdown %+v", a, q.shutdown("a"))
			}
			if got := q.task(task); got.Status != registry.TaskPending {
				t.Errorf("task %+v", got)
			}
			var want []string
			if c.sent != "" {
				want = []string{c.sent}
				if !a.Lost.Equal(at(time.Hour)) {
					t.Errorf("lost %v", a.Lost)
				}
			}
			if diff := cmp.Diff(want, q.notices()); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			q.sweep("", map[string]Signs{"w-a": {Gone: true}}, at(2*time.Hour))
			if diff := cmp.Diff(a, q.agent("a")); diff != "" {
				t.Errorf("a sweep (-before +after):\n%s", diff)
			}
		})
	}
}

// The end of a worker that is no agent's, or not any more, ends no agent.
func TestEndOfAnotherWorker(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		return Rejoin(ctx, tx, "agent-a", "new", "red-a", "n", now)
	})
	before := q.agent("a")
	for _, id := range []string{"w-a", "ghost", ""} {
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			_, err := Ended(ctx, tx, id, End{Killed: true}, later)
			return err
		})
	}
	q.sweep("", map[string]Signs{"w-a": {Gone: true}, "": {Gone: true}}, later)
	if diff := cmp.Diff(before, q.agent("a")); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// A loss is followed by the next one only after a new start.
func TestLostAgain(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	lose := func(reason string) {
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			_, err := Lost(ctx, tx, "agent-a", reason, later)
			return err
		})
	}
	lose("one")
	lose("two")
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		return Rejoin(ctx, tx, "agent-a", "new", "red-a", "n", later)
	})
	lose("three")
	want := []string{
		"Agent a (agent-a) became inactive: one. Tasks reassigned: none.",
		"Agent a (agent-a) became inactive: three. Tasks reassigned: none.",
	}
	if diff := cmp.Diff(want, q.notices()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// The end of an agent that has approved confirms the shutdown, and the leader is notified.
func TestEndAfterApproval(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	task := q.works("a")
	if _, err := q.ask(person, "a", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := q.approve(as("a"), false, ""); err != nil {
		t.Fatal(err)
	}
	q.sweep(crewTeam, map[string]Signs{"w-a": {Gone: true, Reason: "success"}}, later)
	if s := q.shutdown("a"); s.Phase != registry.ShutdownConfirmed || len(s.Reassigned) != 1 || s.Reassigned[0] != task {
		t.Errorf("%+v", s)
	}
	if diff := cmp.Diff([]registry.ShutdownPhase{registry.ShutdownApproved, registry.ShutdownConfirmed}, q.notes(Leader)); diff != "" {
		t.Errorf("the leader knows (-want +got):\n%s", diff)
	}
}
