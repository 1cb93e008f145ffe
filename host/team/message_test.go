package team

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

func TestSend(t *testing.T) {
	t.Parallel()
	dir := crew(t, "a", "b", "gone")
	with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
		gone, err := tx.Agent(ctx, "agent-gone")
		if err != nil {
			return err
		}
		gone.Status = registry.AgentTerminated
		if err := tx.PutAgent(ctx, &gone); err != nil {
			return err
		}
		// Its name is another agent's id.
		return tx.InsertAgent(ctx, &registry.Agent{ID: "agent-c", Team: crewTeam, Name: "agent-a", Role: registry.RoleWorker, Status: registry.AgentInactive, Created: now})
	})
	for i, test := range []struct {
		caller     Caller
		to, body   string
		sender     string
		recipients []string
		err        string
	}{
		{caller: as("a"), to: "b", body: "hi", sender: "agent-a", recipients: []string{"agent-b"}},
		{caller: as("a"), to: "agent-b", body: "hi", sender: "agent-a", recipients: []string{"agent-b"}},
		{caller: as("b"), to: "agent-a", body: "an id goes before a name", sender: "agent-b", recipients: []string{"agent-a"}},
		{caller: as("a"), to: "leader", body: "hi", sender: "agent-a", recipients: []string{"leader"}},
		{caller: as("a"), to: "a", body: "to myself", sender: "agent-a", recipients: []string{"agent-a"}},
		{caller: person, to: "all", body: "hi", sender: "leader", recipients: []string{"agent-a", "agent-b", "agent-c"}},
		{caller: as("a"), to: "all", body: "hi", sender: "agent-a", recipients: []string{"leader", "agent-b", "agent-c"}},
		{caller: person, to: "gone", body: "hi", err: "Recipient 'gone' is not a member of team 'red'"},
		{caller: person, to: "agent-gone", body: "hi", err: "Recipient 'agent-gone' is not a member of team 'red'"},
		{caller: person, to: "system", body: "hi", err: "Recipient 'system' is not a member of team 'red'"},
		{caller: person, to: "", body: "hi", err: "Recipient '' is not a member of team 'red'"},
		{caller: person, to: "a", body: "", err: "Message is empty"},
		{caller: person, to: "a", body: strings.Repeat("x", maxText+1), err: "Message has 262145 bytes, more than 262144"},
		{caller: Caller{WorkerID: "w"}, to: "a", body: "hi", err: "Not a member of team 'red'"},
	} {
		with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
			ids, err := Send(ctx, tx, test.caller, crewTeam, test.to, test.body, later)
			refused(t, test.err, err)
			if len(ids) != len(test.recipients) {
				t.Errorf("%d: %d messages, want %d", i, len(ids), len(test.recipients))
				return nil
			}
			for j, to := range test.recipients {
				messages, _, err := tx.Messages(ctx, registry.MessageQuery{Team: crewTeam, Recipient: to, Newest: true, Limit: 1})
				want := []registry.Message{
					{ID: ids[j], Team: crewTeam, Sender: test.sender, Recipient: to, Type: registry.MessagePlain, Body: test.body, Time: later},
				}
				if diff := cmp.Diff(want, messages); err != nil || diff != "" {
					t.Errorf("%d: inbox of %s: %v (-want +got):\n%s", i, to, err, diff)
				}
			}
			return nil
		})
	}
}

func TestSendToAllOfNoMembers(t *testing.T) {
	t.Parallel()
	with(t, crew(t), func(ctx context.Context, tx *registry.Tx) error {
		ids, err := Send(ctx, tx, person, crewTeam, All, "hi", now)
		if len(ids) > 0 {
			t.Errorf("messages %v went to no member", ids)
		}
		return err
	})
}

// bodies are those of the messages that a call of Read returns, with a mark at
// those that had been read.
func bodies(in Inbox) (texts []string) {
	for _, m := range in.Messages {
		text := m.Body
		if !m.Read.IsZero() {
			text += " (read)"
		}
		texts = append(texts, text)
	}
	return texts
}

func TestReadMarks(t *testing.T) {
	t.Parallel()
	with(t, crew(t, "a"), func(ctx context.Context, tx *registry.Tx) error {
		read := func(caller Caller, unread bool, want ...string) {
			t.Helper()
			in, err := Read(ctx, tx, caller, crewTeam, unread, later)
			if diff := cmp.Diff(want, bodies(in)); err != nil || diff != "" {
				t.Errorf("inbox: %v (-want +got):\n%s", err, diff)
			}
		}
		waiting := func(want int) {
			t.Helper()
			if n, err := Unread(ctx, tx, as("a"), crewTeam); err != nil || n != want {
				t.Errorf("%d messages wait, %v, want %d", n, err, want)
			}
		}
		send := func(body string) {
			t.Helper()
			if _, err := Send(ctx, tx, person, crewTeam, "a", body, now); err != nil {
				t.Error(err)
			}
		}
		read(as("a"), true)
		send("1")
		send("2")
		waiting(2)
		read(person, true) // another inbox
		waiting(2)
		read(as("a"), true, "1", "2")
		waiting(0)
		read(as("a"), true)
		send("3")
		read(as("a"), false, "1 (read)", "2 (read)", "3")
		waiting(0)
		read(as("a"), false, "1 (read)", "2 (read)", "3 (read)")
		return nil
	})
}

func TestReadInPieces(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("x", maxText)
	for _, test := range []struct {
		name  string
		n     int
		body  string
		first int
	}{
		{"many", maxMessages + 3, "m", maxMessages},
		{"long", 6, half, maxInbox / maxText},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			with(t, crew(t, "a"), func(ctx context.Context, tx *registry.Tx) error {
				for i := range test.n {
					body := fmt.Sprintf("%06d", i) + test.body
					if _, err := Send(ctx, tx, person, crewTeam, "a", body[:min(len(body), maxText)], now); err != nil {
						return err
					}
				}
				// All shows the newest, and leaves those that it does not show unread.
				all, err := Read(ctx, tx, as("a"), crewTeam, false, later)
				if err != nil {
					return err
				}
				checkInbox(t, all, test.n-test.first, test.first, test.n-test.first)
				rest, err := Read(ctx, tx, as("a"), crewTeam, true, later)
				if err != nil {
					return err
				}
				checkInbox(t, rest, 0, test.n-test.first, 0)
				return nil
			})
			with(t, crew(t, "a"), func(ctx context.Context, tx *registry.Tx) error {
				for i := range test.n {
					body := fmt.Sprintf("%06d", i) + test.body
					if _, err := Send(ctx, tx, person, crewTeam, "a", body[:min(len(body), maxText)], now); err != nil {
						return err
					}
				}
				// Unread messages come in order, the oldest first.
				for _, want := range []struct{ from, n, remaining int }{{0, test.first, test.n - test.first}, {test.first, test.n - test.first, 0}, {0, 0, 0}} {
					in, err := Read(ctx, tx, as("a"), crewTeam, true, later)
					if err != nil {
						return err
					}
					checkInbox(t, in, want.from, want.n, want.remaining)
				}
				return nil
			})
		})
	}
}

// checkInbox checks that an inbox has n messages, which are numbered.
func checkInbox(t *testing.T, in Inbox, from, n, remaining int) {
	t.Helper()
	if len(in.Messages) != n || in.Remaining != remaining {
		t.Fatalf("%d messages and %d remaining, want %d and %d", len(in.Messages), in.Remaining, n, remaining)
	}
	for i, m := range in.Messages {
		if want := fmt.Sprintf("%06d", from+i); m.Body[:6] != want {
			t.Fatalf("message %d is %s, want %s", i, m.Body[:6], want)
		}
	}
}

// TestCallsAreSignsOfLife: whatever an agent changes, and reading its inbox, says
// that it lives; what only looks does not.
func TestCallsAreSignsOfLife(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		call func(context.Context, *registry.Tx) error
		want time.Time
	}{
		{"create", func(ctx context.Context, tx *registry.Tx) error {
			_, err := CreateTask(ctx, tx, as("a"), crewTeam, NewTask{Title: "t"}, later)
			return err
		}, later},
		{"claim", func(ctx context.Context, tx *registry.Tx) error {
			_, err := ClaimTask(ctx, tx, as("a"), crewTeam, "task-1", later)
			return err
		}, later},
		{"update", func(ctx context.Context, tx *registry.Tx) error {
			_, err := UpdateTask(ctx, tx, as("a"), crewTeam, "task-1", TaskChange{Status: registry.TaskPending}, later)
			return err
		}, later},
		{"send", func(ctx context.Context, tx *registry.Tx) error {
			_, err := Send(ctx, tx, as("a"), crewTeam, Leader, "hi", later)
			return err
		}, later},
		{"read", func(ctx context.Context, tx *registry.Tx) error {
			_, err := Read(ctx, tx, as("a"), crewTeam, true, later)
			return err
		}, later},
		{"list", func(ctx context.Context, tx *registry.Tx) error {
			_, err := Tasks(ctx, tx, as("a"), crewTeam, "", "")
			return err
		}, now},
		{"look", func(ctx context.Context, tx *registry.Tx) error {
			_, err := Unread(ctx, tx, as("a"), crewTeam)
			return err
		}, now},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := crew(t, "a")
			addTasks(t, dir, nil)
			with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
				if err := test.call(ctx, tx); err != nil {
					return err
				}
				a, err := tx.Agent(ctx, "agent-a")
				if !a.Heartbeat.Equal(test.want) {
					t.Errorf("the last sign of life is of %v, want %v", a.Heartbeat, test.want)
				}
				return err
			})
		})
	}
}
