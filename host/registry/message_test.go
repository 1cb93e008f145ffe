package registry

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// inbox writes messages with these bodies to one inbox, and one to each of two
// inboxes next to it.
func inbox(ctx context.Context, t *testing.T, tx *Tx, bodies ...string) []Message {
	t.Helper()
	var messages []Message
	others := []Message{{Team: "blue", Recipient: "leader"}, {Team: "red", Recipient: "agent-x"}}
	for i, body := range bodies {
		messages = append(messages, Message{
			Team: "red", Sender: "agent-x", Recipient: "leader", Type: MessagePlain, Body: body, Time: time.Unix(1700000000, int64(i)),
		})
		if err := tx.AddMessage(ctx, &messages[i]); err != nil {
			t.Fatal(err)
		}
		for _, m := range others {
			m.Type = MessageSystem
			if err := tx.AddMessage(ctx, &m); err != nil {
				t.Fatal(err)
			}
		}
	}
	return messages
}

func TestMessagesOfOneInbox(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	for _, test := range []struct {
		name   string
		bodies []string
		query  MessageQuery
		want   []int
		more   int
	}{
		{"none", nil, MessageQuery{Limit: 9, Bytes: 9}, nil, 0},
		{"all", []string{"a", "b", "c"}, MessageQuery{Limit: 9, Bytes: 9}, []int{0, 1, 2}, 0},
		{"the oldest", []string{"a", "b", "c"}, MessageQuery{Limit: 2, Bytes: 9}, []int{0, 1}, 1},
		{"the newest", []string{"a", "b", "c"}, MessageQuery{Limit: 2, Bytes: 9, Newest: true}, []int{1, 2}, 1},
		{"as many bytes as fit", []string{"aa", "bb", "cc"}, MessageQuery{Limit: 9, Bytes: 5}, []int{0, 1}, 1},
		{"as many bytes as fit, exactly", []string{"aa", "bb", "cc"}, MessageQuery{Limit: 9, Bytes: 6}, []int{0, 1, 2}, 0},
		{"one that is too long", []string{long, "b"}, MessageQuery{Limit: 9, Bytes: 9}, []int{0}, 1},
		{"a long one later", []string{"a", long}, MessageQuery{Limit: 9, Bytes: 9}, []int{0}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := openTest(t, t.TempDir())
			change(t, r, func(ctx context.Context, tx *Tx) error {
				messages := inbox(ctx, t, tx, test.bodies...)
				test.query.Team, test.query.Recipient = "red", "leader"
				got, more, err := tx.Messages(ctx, test.query)
				var want []Message
				for _, i := range test.want {
					want = append(want, messages[i])
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
				if more != test.more {
					t.Errorf("%d more, want %d", more, test.more)
				}
				return err
			})
		})
	}
}

func TestMessagesAreMarked(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	change(t, r, func(ctx context.Context, tx *Tx) error {
		messages := inbox(ctx, t, tx, "a", "b", "c", "d")
		early, late := time.Unix(1700000100, 0), time.Unix(1700000200, 0)
		if err := tx.MarkRead(ctx, "red", "leader", messages[1].ID, messages[1].ID, early); err != nil {
			return err
		}
		if err := tx.MarkRead(ctx, "red", "leader", messages[0].ID, messages[2].ID, late); err != nil {
			return err
		}
		for i, at := range []time.Time{late, early, late} {
			messages[i].Read, messages[i].Receipt = at, Receipt{How: DeliveredRead, Delivered: at}
		}
		all := MessageQuery{Team: "red", Recipient: "leader", Limit: 9, Bytes: 9}
		got, _, err := tx.Messages(ctx, all)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(messages, got); diff != "" {
			t.Errorf("all messages (-want +got):\n%s", diff)
		}
		all.Unread = true
		got, _, err = tx.Messages(ctx, all)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(messages[3:], got); diff != "" {
			t.Errorf("unread messages (-want +got):\n%s", diff)
		}
		for recipient, want := range map[string]int{"leader": 1, "agent-x": 4, "agent-none": 0} {
			n, err := tx.Unread(ctx, "red", recipient)
			if err != nil {
				return err
			}
			if n != want {
				t.Errorf("%d unread messages of %s, want %d", n, recipient, want)
			}
		}
		return nil
	})
}
