package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// MessageType says what a message is.
type MessageType string

// The types of a message.
const (
	// MessagePlain: one member wrote it to another.
	MessagePlain MessageType = "plain"
	// MessageShutdownRequest: an agent is asked to end; the body is JSON.
	MessageShutdownRequest MessageType = "shutdown_request"
	// MessageShutdownApproved: its answer, yes or no; the body is JSON.
	MessageShutdownApproved MessageType = "shutdown_approved"
	// MessageSystem: swarm tells what happened.
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

// AddMessage puts a message into its recipient's inbox and gives it its id.
func (t *Tx) AddMessage(ctx context.Context, m *Message) error {
	m.Quiet = m.Quiet || t.Quiet
	res, err := t.tx.ExecContext(ctx, `INSERT INTO messages (team, sender, recipient, type, body, time_ns, read_ns, brought, brought_ns, quiet)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, m.Team, m.Sender, m.Recipient, m.Type, m.Body, nanos(m.Time), nanos(m.Read),
		m.How, nanos(m.Brought), m.Quiet)
	if err == nil {
		m.ID, err = res.LastInsertId()
	}
	if err != nil {
		return fmt.Errorf("write a message to '%s' of '%s': %w", m.Recipient, m.Team, err)
	}
	return nil
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
	where := " FROM messages WHERE team = ? AND recipient = ?"
	if q.Unread {
		where += " AND read_ns = 0"
	}
	order := " ORDER BY id"
	if q.Newest {
		order += " DESC"
	}
	if err := t.tx.QueryRowContext(ctx, "SELECT count(*)"+where, q.Team, q.Recipient).Scan(&more); err != nil {
		return nil, 0, fmt.Errorf("read the inbox of '%s' of '%s': %w", q.Recipient, q.Team, err)
	}
	rows, err := t.tx.QueryContext(ctx, "SELECT "+messageColumns+where+order+" LIMIT ?", q.Team, q.Recipient, q.Limit)
	if err != nil {
		return nil, 0, fmt.Errorf("read the inbox of '%s' of '%s': %w", q.Recipient, q.Team, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	size := 0
	for rows.Next() {
		m, err := scanMessage(rows, false)
		if err != nil {
			return nil, 0, fmt.Errorf("read the inbox of '%s' of '%s': %w", q.Recipient, q.Team, err)
		}
		if size += len(m.Body); size > q.Bytes && len(messages) > 0 {
			break
		}
		m.Team, m.Recipient = q.Team, q.Recipient
		messages = append(messages, m)
	}
	if q.Newest {
		slices.Reverse(messages)
	}
	return messages, more - len(messages), rows.Err()
}

// MessagesWith returns the messages with these ids, the oldest one first.
func (t *Tx) MessagesWith(ctx context.Context, ids ...int64) (messages []Message, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	return t.messages(ctx, "id IN ("+strings.TrimSuffix(strings.Repeat("?, ", len(ids)), ", ")+") ORDER BY id", args...)
}

// Sent returns the last messages that a member has sent, the oldest one first.
func (t *Tx) Sent(ctx context.Context, m Membership, limit int) ([]Message, error) {
	messages, err := t.messages(ctx, "team = ? AND sender = ? ORDER BY id DESC LIMIT ?", m.Team, m.Member, limit)
	slices.Reverse(messages)
	return messages, err
}

func (t *Tx) messages(ctx context.Context, where string, args ...any) (messages []Message, err error) {
	rows, err := t.tx.QueryContext(ctx, "SELECT team, recipient, "+messageColumns+" FROM messages WHERE "+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		m, err := scanMessage(rows, true)
		if err != nil {
			return nil, fmt.Errorf("read messages: %w", err)
		}
		messages = append(messages, m)
	}
	return messages, rows.Err()
}

const messageColumns = "id, sender, type, body, time_ns, read_ns, brought, brought_ns, quiet"

// scanMessage scans [messageColumns], after the team and the recipient if inbox says so.
func scanMessage(s scanner, inbox bool) (Message, error) {
	var m Message
	var at, read, brought int64
	targets := []any{&m.ID, &m.Sender, &m.Type, &m.Body, &at, &read, &m.How, &brought, &m.Quiet}
	if inbox {
		targets = append([]any{&m.Team, &m.Recipient}, targets...)
	}
	err := s.Scan(targets...)
	m.Time, m.Read, m.Brought = when(at), when(read), when(brought)
	return m, err
}

// MarkRead says that a member read all messages of its inbox from one id to
// another, both included. Messages that were read before are unchanged. Messages that were
// not brought before are brought by this, see [BroughtRead].
func (t *Tx) MarkRead(ctx context.Context, team, recipient string, first, last int64, now time.Time) error {
	_, err := t.tx.ExecContext(ctx, `UPDATE messages SET read_ns = ?1,
			brought = iif(brought = '', '`+string(BroughtRead)+`', brought), brought_ns = iif(brought = '', ?1, brought_ns)
		WHERE team = ?2 AND recipient = ?3 AND id BETWEEN ?4 AND ?5 AND read_ns = 0`,
		nanos(now), team, recipient, first, last)
	if err != nil {
		return fmt.Errorf("mark the messages of '%s' of '%s': %w", recipient, team, err)
	}
	return nil
}

// Unread returns how many messages of an inbox were not read yet.
func (t *Tx) Unread(ctx context.Context, team, recipient string) (n int, err error) {
	err = t.tx.QueryRowContext(ctx, "SELECT count(*) FROM messages WHERE team = ? AND recipient = ? AND read_ns = 0", team, recipient).Scan(&n)
	return n, err
}
