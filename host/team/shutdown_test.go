package team

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

func (q squad) ask(caller Caller, who, reason string) (registry.Shutdown, error) {
	var s registry.Shutdown
	err := q.try(func(ctx context.Context, tx *registry.Tx) (err error) {
		_, s, err = Ask(ctx, tx, caller, crewTeam, who, reason, now)
		return err
	})
	return s, err
}

func (q squad) approve(caller Caller, ready bool, reason string) (registry.Shutdown, error) {
	var s registry.Shutdown
	err := q.try(func(ctx context.Context, tx *registry.Tx) (err error) {
		_, s, err = Approve(ctx, tx, caller, crewTeam, ready, reason, later)
		return err
	})
	return s, err
}

func (q squad) reject(caller Caller, reason string) (registry.Shutdown, error) {
	var s registry.Shutdown
	err := q.try(func(ctx context.Context, tx *registry.Tx) (err error) {
		_, s, err = Reject(ctx, tx, caller, crewTeam, reason, later)
		return err
	})
	return s, err
}

func (q squad) release(name string, l Departure) (Released, error) {
	var r Released
	err := q.try(func(ctx context.Context, tx *registry.Tx) (err error) {
		r, err = Release(ctx, tx, "agent-"+name, l, later)
		return err
	})
	return r, err
}

// notes are the phases that the messages about shutdowns in an inbox report.
func (q squad) notes(member string) (phases []registry.ShutdownPhase) {
	q.t.Helper()
	for _, m := range q.inbox(member) {
		var n note
		if err := json.Unmarshal([]byte(m.Body), &n); err != nil {
			q.t.Fatal(err)
		}
		phases = append(phases, n.Phase)
	}
	return phases
}

func TestTarget(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "boss", "gone", "asked")
	if _, err := q.release("gone", Departure{Phase: registry.ShutdownForceKilled}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.ask(person, "asked", ""); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		caller    Caller
		team, who string
		want, ask string
	}{
		{person, crewTeam, "asked", "", "Agent already in shutdown. Use force=true to override."},
		{as("boss"), crewTeam, "agent-asked", "", "Agent already in shutdown. Use force=true to override."},
		{as("a"), crewTeam, "agent-a", "Only the team leader can kill agents", ""},
		{as("a"), crewTeam, "leader", "Only the team leader can kill agents", ""},
		{as("a"), crewTeam, "ghost", "Only the team leader can kill agents", ""},
		{Caller{WorkerID: "w"}, crewTeam, "a", "Only the team leader can kill agents", ""},
		{person, crewTeam, "leader", "Cannot kill the team leader", ""},
		{as("boss"), crewTeam, "leader", "Cannot kill the team leader", ""},
		{person, crewTeam, "boss", "Cannot kill the team leader", ""},
		{as("boss"), crewTeam, "agent-boss", "Cannot kill the team leader", ""},
		{person, crewTeam, "ghost", "Agent 'ghost' not found", ""},
		{person, crewTeam, "", "Agent '' not found", ""},
		{person, crewTeam, "agent-gone", "Agent 'agent-gone' is already terminated", ""},
		{person, crewTeam, "gone", "Agent 'gone' is already terminated", ""},
		{person, "green", "a", "Team 'green' does not exist", ""},
		{as("a"), "green", "a", "Team 'green' does not exist", ""},
	} {
		refused(t, c.want, q.try(func(ctx context.Context, tx *registry.Tx) error {
			_, err := Target(ctx, tx, c.caller, c.team, c.who)
			return err
		}))
		if c.ask == "" {
			c.ask = c.want
		}
		refused(t, c.ask, q.try(func(ctx context.Context, tx *registry.Tx) error {
			_, _, err := Ask(ctx, tx, c.caller, c.team, c.who, "", now)
			return err
		}))
	}
	if got := q.agent("a"); got.Status != registry.AgentActive || q.shutdown("a").ID != 0 || len(q.inbox("agent-a")) != 0 {
		t.Errorf("refused, and yet: %+v", got)
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	for _, before := range []registry.AgentStatus{registry.AgentSpawning, registry.AgentActive, registry.AgentIdle, registry.AgentInactive} {
		t.Run(string(before), func(t *testing.T) {
			t.Parallel()
			q := newSquad(t, "a")
			q.put("a", func(a *registry.Agent) { a.Status = before })
			task := q.works("a")
			q.put("a", func(a *registry.Agent) { a.Status = before }) // to claim a task is a sign of life
			got, err := q.ask(person, "a", "no money")
			want := registry.Shutdown{ID: 1, Team: crewTeam, AgentID: "agent-a", Requester: Leader, Reason: "no money", Phase: registry.ShutdownRequested, Requested: now}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if diff := cmp.Diff(want, q.shutdown("a")); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			a := q.agent("a")
			if a.Status != registry.AgentShuttingDown || a.Before != before || a.TokenHash == "" || q.task(task).Owner != a.ID {
				t.Errorf("%+v", a)
			}
			wantMessage := registry.Message{
				ID: 1, Team: crewTeam, Sender: Leader, Recipient: "agent-a", Type: registry.MessageShutdownRequest, Time: now,
				Body: `{"id":"1","requesterAgentId":"leader","targetAgentId":"agent-a","teamName":"red","reason":"no money","phase":"requested",` +
					`"force":false,"requestedAt":"2023-11-14T22:13:20.000Z"}`,
			}
			if diff := cmp.Diff([]registry.Message{wantMessage}, q.inbox("agent-a")); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			_, err = q.ask(person, "a", "")
			if !errors.Is(err, ErrInShutdown) || len(q.inbox("agent-a")) != 1 {
				t.Errorf("asked twice: %v", err)
			}
		})
	}
}

// Request, approval, confirmation.
func TestApprove(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	task := q.works("a")
	if _, err := q.ask(person, "a", ""); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it may say so again
		s, err := q.approve(as("a"), false, "one minute")
		if err != nil || s.Phase != registry.ShutdownApproved || !s.Responded.Equal(later) || !s.Completed.IsZero() || s.Response != "one minute" {
			t.Errorf("approved: %+v, %v", s, err)
		}
	}
	if a := q.agent("a"); a.Status != registry.AgentShuttingDown || q.task(task).Owner != a.ID {
		t.Errorf("it works on: %+v", a)
	}
	if _, err := q.ask(person, "a", ""); !errors.Is(err, ErrInShutdown) {
		t.Errorf("asked again: %v", err)
	}
	if _, err := q.reject(as("a"), ""); !errors.Is(err, ErrApproved) {
		t.Errorf("rejected now: %v", err)
	}
	want := []registry.Message{{
		ID: 2, Team: crewTeam, Sender: "agent-a", Recipient: Leader, Type: registry.MessageShutdownApproved, Time: later,
		Body: `{"id":"1","requesterAgentId":"leader","targetAgentId":"agent-a","teamName":"red","phase":"approved","approved":true,` +
			`"force":false,"requestedAt":"2023-11-14T22:13:20.000Z","respondedAt":"2023-11-14T22:14:20.000Z","responseReason":"one minute"}`,
	}}
	if diff := cmp.Diff(want, q.inbox(Leader)); diff != "" {
		t.Errorf("the leader's inbox (-want +got):\n%s", diff)
	}
	if s, err := q.approve(as("a"), true, ""); err != nil || s.Phase != registry.ShutdownApproved || s.Response != "one minute" {
		t.Errorf("ready: %+v, %v", s, err)
	}
	r, err := q.release("a", Departure{Phase: registry.ShutdownConfirmed})
	if err != nil || len(r.Reassigned) != 1 || r.Reassigned[0] != task || r.Warnings != nil {
		t.Errorf("released: %+v, %v", r, err)
	}
	s := q.shutdown("a")
	wantShutdown := registry.Shutdown{
		ID: 1, Team: crewTeam, AgentID: "agent-a", Requester: Leader, Phase: registry.ShutdownConfirmed, Requested: now, Responded: later, Completed: later,
		Response: "one minute", Reassigned: []string{task},
	}
	if diff := cmp.Diff(wantShutdown, s); diff != "" {
		t.Errorf("shutdown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]registry.ShutdownPhase{registry.ShutdownApproved, registry.ShutdownConfirmed}, q.notes(Leader)); diff != "" {
		t.Errorf("the leader knows (-want +got):\n%s", diff)
	}
}

// An agent that is ready at once sends the leader one message.
func TestApproveReady(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "boss")
	if _, err := q.ask(as("boss"), "a", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := q.approve(as("a"), true, "bye"); err != nil {
		t.Fatal(err)
	}
	if _, err := q.release("a", Departure{Phase: registry.ShutdownConfirmed}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]registry.ShutdownPhase{registry.ShutdownConfirmed}, q.notes("agent-boss")); diff != "" {
		t.Errorf("the one who asked knows (-want +got):\n%s", diff)
	}
	if got := q.inbox(Leader); got != nil {
		t.Errorf("the leader, who did not ask: %v", got)
	}
}

// Request, rejection, the previous status again, and the next request.
func TestReject(t *testing.T) {
	t.Parallel()
	for before, after := range map[registry.AgentStatus]registry.AgentStatus{registry.AgentSpawning: registry.AgentActive, registry.AgentActive: registry.AgentActive, registry.AgentIdle: registry.AgentIdle, registry.AgentInactive: registry.AgentActive} {
		t.Run(string(before), func(t *testing.T) {
			t.Parallel()
			q := newSquad(t, "a")
			q.put("a", func(a *registry.Agent) { a.Status = before })
			if _, err := q.ask(person, "a", "why not"); err != nil {
				t.Fatal(err)
			}
			s, err := q.reject(as("a"), "busy")
			if err != nil || s.Phase != registry.ShutdownRejected || s.Response != "busy" || s.Answered {
				t.Errorf("%+v, %v", s, err)
			}
			if a := q.agent("a"); a.Status != after || a.Before != "" || !a.Heartbeat.Equal(later) {
				t.Errorf("%+v, want %s", a, after)
			}
			want := []registry.Message{{
				ID: 2, Team: crewTeam, Sender: "agent-a", Recipient: Leader, Type: registry.MessageShutdownApproved, Time: later,
				Body: `{"id":"1","requesterAgentId":"leader","targetAgentId":"agent-a","teamName":"red","reason":"why not","phase":"rejected","approved":false,` +
					`"force":false,"requestedAt":"2023-11-14T22:13:20.000Z","respondedAt":"2023-11-14T22:14:20.000Z","responseReason":"busy"}`,
			}}
			if diff := cmp.Diff(want, q.inbox(Leader)); diff != "" {
				t.Errorf("the leader's inbox (-want +got):\n%s", diff)
			}
			// Answered once, then asked anew.
			s, err = q.ask(person, "a", "")
			if err != nil || s.Phase != registry.ShutdownRejected || s.Response != "busy" || q.agent("a").Status != after || len(q.inbox("agent-a")) != 1 {
				t.Errorf("the next: %+v, %v", s, err)
			}
			s, err = q.ask(person, "a", "")
			if err != nil || s.Phase != registry.ShutdownRequested || s.ID != 2 || q.agent("a").Status != registry.AgentShuttingDown || len(q.inbox("agent-a")) != 2 {
				t.Errorf("the one after: %+v, %v", s, err)
			}
			if s, err = q.approve(as("a"), true, ""); err != nil || s.ID != 2 {
				t.Errorf("then: %+v, %v", s, err)
			}
		})
	}
}

func TestLongReason(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "b")
	if _, err := q.ask(person, "b", ""); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", maxText+1)
	_, asked := q.ask(person, "a", long)
	_, approved := q.approve(as("b"), false, long)
	_, rejected := q.reject(as("b"), long)
	for _, err := range []error{asked, approved, rejected} {
		refused(t, "Reason has 262145 bytes, more than 262144", err)
	}
}

// No one waits for the answer of one that is gone.
func TestAskOneThatIsGone(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Lost(ctx, tx, "agent-a", "", now)
		return err
	})
	if _, err := q.ask(person, "a", ""); !errors.Is(err, ErrInactive) || q.agent("a").Status != registry.AgentInactive {
		t.Errorf("asked: %v", err)
	}
}

func TestAnswered(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	answered := func() {
		q.change(func(ctx context.Context, tx *registry.Tx) error { return Answered(ctx, tx, "agent-a") })
	}
	answered() // there is nothing to report
	if _, err := q.ask(person, "a", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := q.reject(as("a"), ""); err != nil {
		t.Fatal(err)
	}
	answered()
	answered()
	if s, err := q.ask(person, "a", ""); err != nil || s.Phase != registry.ShutdownRequested {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAnswersOfThoseWhoWereNotAsked(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "b", "gone", "boss")
	if _, err := q.ask(person, "gone", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := q.release("gone", Departure{Phase: registry.ShutdownForceKilled}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.ask(person, "b", ""); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		caller Caller
		want   string
	}{
		"an agent":         {as("a"), "No shutdown request to respond to"},
		"a leading agent":  {as("boss"), "No shutdown request to respond to"},
		"a person":         {person, "No shutdown request to respond to"},
		"one that is gone": {as("gone"), "Not a member of team 'red'"},
		"a stranger":       {Caller{WorkerID: "w"}, "Not a member of team 'red'"},
	} {
		t.Run(what, func(t *testing.T) {
			for range 2 {
				_, err := q.approve(c.caller, true, "")
				refused(t, c.want, err)
				_, err = q.reject(c.caller, "")
				refused(t, c.want, err)
			}
		})
	}
	if s := q.shutdown("b"); s.Phase != registry.ShutdownRequested {
		t.Errorf("the request to someone else: %+v", s)
	}
}

// An agent that is asked by one that has ended meanwhile answers the leader.
func TestAnswerToOneWhoIsGone(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "boss")
	if _, err := q.ask(as("boss"), "a", ""); err != nil {
		t.Fatal(err)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Ended(ctx, tx, "w-boss", End{Killed: true}, now)
		return err
	})
	if _, err := q.reject(as("a"), "no"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]registry.ShutdownPhase{registry.ShutdownRejected}, q.notes(Leader)); diff != "" {
		t.Errorf("the leader knows (-want +got):\n%s", diff)
	}
}

// Heartbeats while it is asked say what it is afterwards.
func TestBeatDuringShutdown(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	if _, err := q.ask(person, "a", ""); err != nil {
		t.Fatal(err)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		a, err := Beat(ctx, tx, as("a"), crewTeam, "", registry.AgentIdle, at(time.Second))
		if a.Status != registry.AgentShuttingDown {
			t.Errorf("after a heartbeat it is %s", a.Status)
		}
		return err
	})
	if _, err := q.reject(as("a"), ""); err != nil {
		t.Fatal(err)
	}
	if got := q.agent("a").Status; got != registry.AgentIdle {
		t.Errorf("afterwards it is %s", got)
	}
}
