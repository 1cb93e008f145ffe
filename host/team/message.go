package team

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// All is the recipient of a message for every other member.
const All = "all"

// Limits on the messages that one call returns, so that an answer fits into the
// context of a model and into a pipe.
const (
	maxMessages = 500
	maxInbox    = 1 << 20
)

// Send puts a message of the caller into the inboxes of its recipients: the member with an
// id or a name, the leader, or [All] except the caller. It returns the ids of the messages,
// one for each recipient.
func Send(ctx context.Context, tx *registry.Tx, caller Caller, team, to, body string, now time.Time) ([]int64, error) {
	sender, err := Member(ctx, tx, caller, team)
	if err != nil {
		return nil, err
	}
	body = clean(body)
	switch {
	case body == "":
		return nil, refuse(ErrInvalid, "Message is empty")
	case len(body) > maxText:
		return nil, refuse(ErrInvalid, "Message has %d bytes, more than %d", len(body), maxText)
	}
	recipients, err := recipients(ctx, tx, team, sender, to)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(recipients))
	for i, recipient := range recipients {
		m := registry.Message{Team: team, Sender: sender, Recipient: recipient, Type: registry.MessagePlain, Body: body, Time: now}
		if err := tx.AddMessage(ctx, &m); err != nil {
			return nil, err
		}
		ids[i] = m.ID
	}
	return ids, Touch(ctx, tx, caller, now)
}

// recipients are the ids of the members that a message is for.
func recipients(ctx context.Context, tx *registry.Tx, team, sender, to string) ([]string, error) {
	switch to {
	case Leader:
		return []string{Leader}, nil
	case All:
		members, err := tx.Members(ctx, team)
		ids := []string{Leader}
		for _, m := range members {
			ids = append(ids, m.ID)
		}
		return slices.DeleteFunc(ids, func(id string) bool { return id == sender }), err
	}
	a, err := Find(ctx, tx, team, to)
	if _, none := errors.AsType[*NoAgentError](err); none || err == nil && a.Status == registry.AgentTerminated {
		return nil, refuse(ErrNoRecipient, "Recipient '%s' is not a member of team '%s'", to, team)
	}
	return []string{a.ID}, err
}

// Inbox is the result of reading an inbox.
type Inbox struct {
	// Messages have their state from before they were read, the oldest one first.
	Messages []registry.Message
	// Remaining is how many messages one call could not return.
	Remaining int
}

// Read returns the caller's messages and marks them as read: those that are
// unread, the oldest ones if there are too many; or all, the newest ones then.
// Of several that read one inbox each message is unread for one.
func Read(ctx context.Context, tx *registry.Tx, caller Caller, team string, unread bool, now time.Time) (Inbox, error) {
	member, in, err := inbox(ctx, tx, caller, team, unread)
	if err != nil {
		return Inbox{}, err
	}
	if n := len(in.Messages); n > 0 {
		if err := tx.MarkRead(ctx, team, member, in.Messages[0].ID, in.Messages[n-1].ID, now); err != nil {
			return Inbox{}, err
		}
	}
	return in, Touch(ctx, tx, caller, now)
}

// Unread returns how many messages wait for the caller. It changes nothing.
func Unread(ctx context.Context, tx *registry.Tx, caller Caller, team string) (int, error) {
	member, err := Member(ctx, tx, caller, team)
	if err != nil {
		return 0, err
	}
	return tx.Unread(ctx, team, member)
}

func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// UnreadMessages returns the caller's unread messages, the oldest first. Unlike [Read] it
// does not mark them.
func UnreadMessages(ctx context.Context, tx *registry.Tx, caller Caller, team string) (Inbox, error) {
	_, in, err := inbox(ctx, tx, caller, team, true)
	return in, err
}

func inbox(ctx context.Context, tx *registry.Tx, caller Caller, team string, unread bool) (member string, in Inbox, err error) {
	if member, err = Member(ctx, tx, caller, team); err != nil {
		return "", in, err
	}
	in.Messages, in.Remaining, err = tx.Messages(ctx, registry.MessageQuery{
		Team: team, Recipient: member, Unread: unread, Newest: !unread, Limit: maxMessages, Bytes: maxInbox,
	})
	return member, in, err
}
