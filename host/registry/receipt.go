package registry

import (
	"context"
	"time"
)

// Delivery says how what is for a member of a team was brought to it.
type Delivery string

// The ways; empty: it was not yet.
const (
	// DeliveredNudging: a line about it is being typed for the member.
	DeliveredNudging Delivery = "nudging"
	// DeliveredNudge: a line about it was typed, and its screen showed that it took it.
	DeliveredNudge Delivery = "nudge"
	// DeliveredUnproven: a line about it was typed, at least in part or perhaps, and
	// nothing showed that the member took it.
	DeliveredUnproven Delivery = "unproven"
	// DeliveredHook: a hook of its client notified the member.
	DeliveredHook Delivery = "hook"
	// DeliveredRead: the member came for it by itself.
	DeliveredRead Delivery = "read"
)

// Receipt says how something was brought to the member that it is for.
type Receipt struct {
	How Delivery
	// Delivered is when, zero while How is empty.
	Delivered time.Time
	// Quiet says that no agent is to be woken for it.
	Quiet bool
}

// Unread counts what is for a member of a team and was not brought to it.
type Unread struct {
	Messages, Tasks int
	// Shutdown says that one of the messages asks it to end, and waits for its answer.
	Shutdown bool
}

// Nothing reports whether nothing is waiting.
func (w Unread) Nothing() bool { return w.Messages+w.Tasks == 0 }

// Membership is a member of a team: an agent's id, or what the leader is called.
type Membership struct{ Team, Member string }

// The words of the indexes on what is waiting.
const (
	waitingMessages = "brought = '' AND read_ns = 0"
	waitingTasks    = "brought = '' AND status = 'pending' AND assignee <> ''"
	// claimable tasks wait for no other.
	claimable = ` AND NOT EXISTS (SELECT 1 FROM task_deps d JOIN tasks o ON o.team = d.team AND o.n = d.needs
		WHERE d.team = tasks.team AND d.n = tasks.n AND o.status <> '` + string(TaskCompleted) + `')`

	countMessages = "SELECT count(*) FROM messages WHERE team = ? AND recipient = ? AND " + waitingMessages
	countTasks    = "SELECT count(*) FROM tasks WHERE team = ? AND assignee = ? AND " + waitingTasks + claimable
	anyRequest    = `SELECT EXISTS (SELECT 1 FROM messages WHERE team = ? AND recipient = ? AND ` + waitingMessages + `
			AND type = '` + string(MessageShutdownRequest) + `')
		AND EXISTS (SELECT 1 FROM shutdowns WHERE agent_id = ? AND phase = '` + string(ShutdownRequested) + `')`

	toWakeOfTeam = "SELECT recipient FROM messages WHERE team = ?1 AND " + waitingMessages + ` AND quiet = 0
		UNION SELECT assignee FROM tasks WHERE team = ?1 AND ` + waitingTasks + " AND quiet = 0" + claimable
)

// CountWaiting counts what is for a member and was not brought to it, quiet or not. Tasks
// that wait for others do not count yet.
func (t *Tx) CountWaiting(ctx context.Context, team, member string) (w Unread, err error) {
	err = t.tx.QueryRowContext(ctx, countMessages, team, member).Scan(&w.Messages)
	if err == nil {
		err = t.tx.QueryRowContext(ctx, countTasks, team, member).Scan(&w.Tasks)
	}
	if err == nil && w.Messages > 0 {
		err = t.tx.QueryRowContext(ctx, anyRequest, team, member, member).Scan(&w.Shutdown)
	}
	return w, wrapf(err, "read what is for '%s' of '%s'", member, team)
}

// ToWake returns the members of a team for whom something is waiting that is not
// quiet.
func (t *Tx) ToWake(ctx context.Context, team string) ([]string, error) {
	members, err := all(ctx, t.tx, value[string], toWakeOfTeam, team)
	return members, wrapf(err, "read what is for members of '%s'", team)
}

// Bring says that what is waiting for a member was brought to it.
func (t *Tx) Bring(ctx context.Context, m Membership, how Delivery, now time.Time) error {
	return t.bring(ctx, m, " AND "+waitingMessages, " AND "+waitingTasks+claimable, how, now)
}

// EndNudging says what came of the line that was typed about what is
// [DeliveredNudging] to a member. An empty how makes it wait again.
func (t *Tx) EndNudging(ctx context.Context, m Membership, how Delivery, now time.Time) error {
	const nudging = " AND brought = '" + string(DeliveredNudging) + "'"
	return t.bring(ctx, m, nudging, nudging, how, now)
}

// BringAgain makes wait again what was brought to a member that has another process
// now, and that it has not read or claimed.
func (t *Tx) BringAgain(ctx context.Context, m Membership) error {
	return t.bring(ctx, m, " AND read_ns = 0 AND brought <> ''", " AND brought <> '' AND status = '"+string(TaskPending)+"'", "", time.Time{})
}

func (t *Tx) bring(ctx context.Context, m Membership, messages, tasks string, how Delivery, now time.Time) error {
	if how == "" {
		now = time.Time{}
	}
	err := t.exec(ctx, "UPDATE messages SET brought = ?, brought_ns = ? WHERE team = ? AND recipient = ?"+messages,
		how, nanos(now), m.Team, m.Member)
	if err == nil {
		err = t.exec(ctx, "UPDATE tasks SET brought = ?, brought_ns = ? WHERE team = ? AND assignee = ?"+tasks,
			how, nanos(now), m.Team, m.Member)
	}
	return wrapf(err, "write what was brought to '%s' of '%s'", m.Member, m.Team)
}

// Unassign makes the pending tasks that are for a member tasks for any.
func (t *Tx) Unassign(ctx context.Context, m Membership) error {
	return t.exec(ctx, "UPDATE tasks SET assignee = '', brought = '', brought_ns = 0 WHERE team = ? AND assignee = ? AND status = '"+
		string(TaskPending)+"'", m.Team, m.Member)
}

// Nudge is a line that is being typed for the agent of a worker.
type Nudge struct {
	Text  string
	Begun time.Time
}

// BeginNudge remembers the line that is about to be typed for the agent of a worker,
// in place of any other.
func (t *Tx) BeginNudge(ctx context.Context, workerID string, n Nudge) error {
	if err := t.exec(ctx, "DELETE FROM nudges WHERE worker_id NOT IN (SELECT id FROM workers)"); err != nil {
		return err
	}
	return t.exec(ctx, "INSERT OR REPLACE INTO nudges (worker_id, text, begun_ns) VALUES (?, ?, ?)", workerID, n.Text, nanos(n.Begun))
}

// Nudge returns the line that is being typed for the agent of a worker: [ErrNotFound]
// if none is.
func (t *Tx) Nudge(ctx context.Context, workerID string) (n Nudge, err error) {
	err = t.tx.QueryRowContext(ctx, "SELECT text, begun_ns FROM nudges WHERE worker_id = ?", workerID).Scan(&n.Text, (*stamp)(&n.Begun))
	return n, wrapf(orNotFound(err), "the nudge of %s", workerID)
}

// Nudges returns the ids of the workers for whose agents a line is being typed.
func (t *Tx) Nudges(ctx context.Context) ([]string, error) {
	ids, err := all(ctx, t.tx, value[string], "SELECT worker_id FROM nudges ORDER BY worker_id")
	return ids, wrapf(err, "read nudges")
}

// EndNudge forgets the line that was typed for the agent of a worker.
func (t *Tx) EndNudge(ctx context.Context, workerID string) error {
	return t.exec(ctx, "DELETE FROM nudges WHERE worker_id = ?", workerID)
}
