package registry

import (
	"context"
	"fmt"
	"time"
)

type TaskStatus string

// The statuses of a task, in the only order in which they follow each other.
const (
	TaskPending    TaskStatus = "pending"
	TaskInProgress TaskStatus = "in_progress"
	TaskCompleted  TaskStatus = "completed"
)

type Priority string

const (
	PriorityHigh   Priority = "high"
	PriorityNormal Priority = "normal"
	PriorityLow    Priority = "low"
)

type Task struct {
	Team string `json:"-"`
	// N is its number, counted in its team from 1.
	N           int        `json:"-"`
	Title       string     `json:"title"`
	Description string     `json:"description,omitempty"`
	Priority    Priority   `json:"priority"`
	Status      TaskStatus `json:"-"`
	// Owner is the member that works on it or did it, or empty.
	Owner string `json:"-"`
	// Assignee is the member that it was made for; empty: any.
	Assignee string    `json:"-"`
	Created  time.Time `json:"-"`
	Updated  time.Time `json:"updated,omitzero"`
	// Claimed and Completed are zero where they did not happen.
	Claimed   time.Time `json:"claimed,omitzero"`
	Completed time.Time `json:"completed,omitzero"`
	// Warning says in one line what is unusual about it, or nothing.
	Warning string `json:"warning,omitempty"`
	// Needs are the tasks that have to be completed before it; Blocks those that
	// wait for it. Both are sorted, and Blocks is only read, never written.
	Needs  []int `json:"-"`
	Blocks []int `json:"-"`
	// Receipt says how its assignee learned of it.
	Receipt `json:"-"`
}

const taskColumns = "team, n, document, status, owner, assignee, created_ns, brought, brought_ns, quiet"

func (t *Task) fields() []any {
	return []any{
		&t.Team, &t.N,
		document{t},
		&t.Status, &t.Owner, &t.Assignee, (*stamp)(&t.Created),
		&t.How, (*stamp)(&t.Delivered), &t.Quiet,
	}
}

// AddTask adds a task and gives it the next number of its team.
func (t *Tx) AddTask(ctx context.Context, task *Task) error {
	task.Quiet = task.Quiet || t.Quiet
	err := t.tx.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) + 1 FROM tasks WHERE team = ?", task.Team).Scan(&task.N)
	if err == nil {
		_, err = t.add(ctx, "tasks", taskColumns, task.fields())
	}
	if err != nil {
		return fmt.Errorf("add a task to '%s': %w", task.Team, err)
	}
	return t.addNeeds(ctx, task)
}

// PutTask writes a task in the place of the one with its team and number.
func (t *Tx) PutTask(ctx context.Context, task *Task) error {
	err := t.put(ctx, "tasks", taskColumns, task.fields(), "team = ? AND n = ?", task.Team, task.N)
	if err == nil {
		err = t.exec(ctx, "DELETE FROM task_deps WHERE team = ? AND n = ?", task.Team, task.N)
	}
	if err != nil {
		return fmt.Errorf("write task %d of '%s': %w", task.N, task.Team, err)
	}
	return t.addNeeds(ctx, task)
}

func (t *Tx) addNeeds(ctx context.Context, task *Task) error {
	for _, needs := range task.Needs {
		err := t.exec(ctx, "INSERT INTO task_deps (team, n, needs) VALUES (?, ?, ?)", task.Team, task.N, needs)
		if err != nil {
			return fmt.Errorf("write what task %d of '%s' needs: %w", task.N, task.Team, err)
		}
	}
	return nil
}

// TaskQuery says which tasks of a team to read. Empty fields mean all.
type TaskQuery struct {
	Team   string
	Status TaskStatus
	Owner  string
	// N is the only number to read, 0: all.
	N int
}

// Task returns the task of that team and number: [ErrNotFound] if there is none.
func (t *Tx) Task(ctx context.Context, team string, n int) (Task, error) {
	if n > 0 {
		tasks, err := t.Tasks(ctx, TaskQuery{Team: team, N: n})
		if err != nil {
			return Task{}, err
		}
		if len(tasks) > 0 {
			return tasks[0], nil
		}
	}
	return Task{}, fmt.Errorf("task %d of '%s': %w", n, team, ErrNotFound)
}

// Tasks returns tasks in the order of their numbers.
func (t *Tx) Tasks(ctx context.Context, q TaskQuery) (tasks []Task, err error) {
	where, args := "team = ?", []any{q.Team}
	if q.Status != "" {
		where, args = where+" AND status = ?", append(args, q.Status)
	}
	if q.Owner != "" {
		where, args = where+" AND owner = ?", append(args, q.Owner)
	}
	if q.N != 0 {
		where, args = where+" AND n = ?", append(args, q.N)
	}
	// Dependencies come as JSON, so that one query is enough.
	tasks, err = all(ctx, t.tx, scanTask, `SELECT `+taskColumns+`,
		(SELECT json_group_array(needs) FROM (SELECT needs FROM task_deps d WHERE d.team = tasks.team AND d.n = tasks.n ORDER BY needs)),
		(SELECT json_group_array(n) FROM (SELECT n FROM task_deps d WHERE d.team = tasks.team AND d.needs = tasks.n ORDER BY n))
		FROM tasks WHERE `+where+` ORDER BY n`, args...)
	return tasks, wrapf(err, "read the tasks of '%s'", q.Team)
}

func scanTask(s scanner) (task Task, err error) {
	err = s.Scan(append(task.fields(), optional[[]int]{of: &task.Needs}, optional[[]int]{of: &task.Blocks})...)
	return task, err
}

// WaitsFor returns the tasks that a task needs and that are not completed.
func (t *Tx) WaitsFor(ctx context.Context, team string, n int) ([]int, error) {
	return all(ctx, t.tx, value[int], `SELECT needs FROM task_deps d JOIN tasks ON tasks.team = d.team AND tasks.n = d.needs
		WHERE d.team = ? AND d.n = ? AND tasks.status <> '`+string(TaskCompleted)+`' ORDER BY needs`, team, n)
}

// Behind returns the tasks that need a task, and all that need these in turn.
func (t *Tx) Behind(ctx context.Context, team string, n int) ([]int, error) {
	return all(ctx, t.tx, value[int], `WITH RECURSIVE behind (n) AS (
			SELECT n FROM task_deps WHERE team = ?1 AND needs = ?2
			UNION SELECT d.n FROM task_deps d JOIN behind ON d.team = ?1 AND d.needs = behind.n)
		SELECT n FROM behind ORDER BY n`, team, n)
}
