package registry

import (
	"context"
	"database/sql"
	"slices"
	"time"
)

type MessageType string

const (
	// MessagePlain: one member wrote it to another.
	MessagePlain MessageType = "plain"
	// MessageShutdownRequest: an agent is asked to end; the body is JSON.
	MessageShutdownRequest MessageType = "shutdown_request"
	// MessageShutdownApproved: its answer, yes or no; the body is JSON.
	MessageShutdownApproved MessageType = "shutdown_approved"
	// MessageSystem: swarm reports what happened.
	MessageSystem MessageType = "system"
)

// Message is a text in the inbox of one member of a team.
type Message struct {
	// ID grows with every message of the state directory.
	ID   int64
	Team string
	// Sender and Recipient are members: an agent's id, or what the leader is called.
	Sender, Recipient string
	Type              MessageType
	Body              string
	Time              time.Time
	// Read is when its recipient read it, or zero.
	Read time.Time
	Receipt
}

const messageColumns = "id, team, sender, recipient, type, body, time_ns, read_ns, brought, brought_ns, quiet"

func (m *Message) fields() []any {
	return []any{
		&m.ID, &m.Team, &m.Sender, &m.Recipient, &m.Type, &m.Body,
		(*stamp)(&m.Time), (*stamp)(&m.Read),
		&m.How, (*stamp)(&m.Delivered), &m.Quiet,
	}
}

// AddMessage puts a message into its recipient's inbox and gives it its id.
func (t *Tx) AddMessage(ctx context.Context, m *Message) (err error) {
	m.Quiet = m.Quiet || t.Quiet
	m.ID, err = t.add(ctx, "messages", messageColumns, m.fields())
	return wrapf(err, "write a message to '%s' of '%s'", m.Recipient, m.Team)
}

// MessageQuery says which messages of one inbox to read.
type MessageQuery struct {
	Team, Recipient string
	// Unread leaves out those that were read.
	Unread bool
	// Newest begins with the newest message instead of the oldest one. It matters
	// only if there are more than Limit or Bytes.
	Newest bool
	// Limit is how many messages to return at most, Bytes how long their bodies may
	// be together; one message is returned however long it is.
	Limit, Bytes int
}

// Messages returns messages of an inbox, always the oldest one first, and how many
// more the query means. It marks none as read.
func (t *Tx) Messages(ctx context.Context, q MessageQuery) (messages []Message, more int, err error) {
	defer func() { err = wrapf(err, "read the inbox of '%s' of '%s'", q.Recipient, q.Team) }()
	where := "team = ? AND recipient = ?"
	if q.Unread {
		where += " AND read_ns = 0"
	}
	order := " ORDER BY id"
	if q.Newest {
		order += " DESC"
	}
	row := t.tx.QueryRowContext(ctx, "SELECT count(*) FROM messages WHERE "+where, q.Team, q.Recipient)
	if more, err = value[int](row); err != nil {
		return nil, 0, err
	}
	size := 0
	err = eachRow(ctx, t.tx, func(rows *sql.Rows) error {
		m, err := scan[Message](rows)
		if size += len(m.Body); err == nil && (size <= q.Bytes || len(messages) == 0) {
			messages = append(messages, m)
		}
		return err
	}, selectMessages+where+order+" LIMIT ?", q.Team, q.Recipient, q.Limit)
	if q.Newest {
		slices.Reverse(messages)
	}
	return messages, more - len(messages), err
}

// MessagesWith returns the messages with these ids, the oldest one first.
func (t *Tx) MessagesWith(ctx context.Context, ids ...int64) ([]Message, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	where, args := oneOf("id", ids)
	return t.messages(ctx, where+" ORDER BY id", args...)
}

// Sent returns the last messages that a member has sent, the oldest one first.
func (t *Tx) Sent(ctx context.Context, m Membership, limit int) ([]Message, error) {
	messages, err := t.messages(ctx, "team = ? AND sender = ? ORDER BY id DESC LIMIT ?", m.Team, m.Member, limit)
	slices.Reverse(messages)
	return messages, err
}

const selectMessages = "SELECT " + messageColumns + " FROM messages WHERE "

func (t *Tx) messages(ctx context.Context, where string, args ...any) ([]Message, error) {
	messages, err := all(ctx, t.tx, scan[Message], selectMessages+where, args...)
	return messages, wrapf(err, "read messages")
}

// MarkRead says that a member read all messages of its inbox from one id to
// another, both included. Messages that were read before are unchanged. Messages that were
// not brought before are brought by this, see [DeliveredRead].
func (t *Tx) MarkRead(ctx context.Context, team, recipient string, first, last int64, now time.Time) error {
	err := t.exec(ctx, `UPDATE messages SET read_ns = ?1,
			brought = iif(brought = '', '`+string(DeliveredRead)+`', brought), brought_ns = iif(brought = '', ?1, brought_ns)
		WHERE team = ?2 AND recipient = ?3 AND id BETWEEN ?4 AND ?5 AND read_ns = 0`,
		nanos(now), team, recipient, first, last)
	return wrapf(err, "mark the messages of '%s' of '%s'", recipient, team)
}

// Unread returns how many messages of an inbox were not read yet.
func (t *Tx) Unread(ctx context.Context, team, recipient string) (int, error) {
	return value[int](t.tx.QueryRowContext(ctx, "SELECT count(*) FROM messages WHERE team = ? AND recipient = ? AND read_ns = 0", team, recipient))
}
