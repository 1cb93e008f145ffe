package team

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

const taskPrefix = "task-"

// TaskID is the name of the task with that number for members.
func TaskID(n int) string { return taskPrefix + strconv.Itoa(n) }

// TaskIDs is [TaskID] of several numbers. It is never nil.
func TaskIDs(ns []int) []string {
	ids := make([]string, len(ns))
	for i, n := range ns {
		ids[i] = TaskID(n)
	}
	return ids
}

// taskNumber returns the number in an id, 0 if it is not the id of a task.
func taskNumber(id string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(id, taskPrefix))
	if err != nil || n < 1 || TaskID(n) != id {
		return 0
	}
	return n
}

// NewTask is a task that is to be created.
type NewTask struct {
	Title, Description string
	// Priority is normal if it is empty.
	Priority registry.Priority
	// Dependencies are the ids of tasks that have to be completed first.
	Dependencies []string
	// Assignee is the id or the name of the member that it is for; empty or [All]: any.
	Assignee string
}

// CreateTask adds a pending task to a team, as one of its members.
func CreateTask(ctx context.Context, tx *registry.Tx, caller Caller, team string, t NewTask, now time.Time) (registry.Task, error) {
	member, err := Member(ctx, tx, caller, team)
	if err != nil {
		return registry.Task{}, err
	}
	task := registry.Task{
		Team: team, Title: clean(t.Title), Description: clean(t.Description), Priority: t.Priority,
		Status: registry.TaskPending, Created: now, Updated: now,
	}
	if task.Priority == "" {
		task.Priority = registry.PriorityNormal
	}
	if err := checkTask(&task); err != nil {
		return registry.Task{}, err
	}
	if t.Assignee != "" {
		if err := assign(ctx, tx, &task, member, t.Assignee, now); err != nil {
			return registry.Task{}, err
		}
	}
	if err := tx.AddTask(ctx, &task); err != nil {
		return registry.Task{}, err
	}
	if len(t.Dependencies) > 0 {
		if err := setDependencies(ctx, tx, &task, t.Dependencies); err != nil {
			return registry.Task{}, err
		}
		if err := tx.PutTask(ctx, &task); err != nil {
			return registry.Task{}, err
		}
	}
	return task, Touch(ctx, tx, caller, now)
}

func checkTask(t *registry.Task) error {
	switch {
	case strings.TrimSpace(t.Title) == "":
		return refuse(ErrInvalid, "Title is empty")
	case len(t.Title) > maxTitle:
		return refuse(ErrInvalid, "Title has %d bytes, more than %d", len(t.Title), maxTitle)
	case len(t.Description) > maxText:
		return refuse(ErrInvalid, "Description has %d bytes, more than %d", len(t.Description), maxText)
	}
	switch t.Priority {
	case registry.PriorityHigh, registry.PriorityNormal, registry.PriorityLow:
		return nil
	default:
		return refuse(ErrInvalid, "Priority '%s' is not one of high, normal, low", t.Priority)
	}
}

func setDependencies(ctx context.Context, tx *registry.Tx, task *registry.Task, ids []string) error {
	behind, err := tx.Behind(ctx, task.Team, task.N)
	if err != nil {
		return err
	}
	behind = append(behind, task.N)
	task.Needs = nil
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		n := taskNumber(id)
		if _, err := tx.Task(ctx, task.Team, n); errors.Is(err, registry.ErrNotFound) {
			return refuse(ErrInvalid, "Dependency task %s does not exist", id)
		} else if err != nil {
			return err
		}
		if slices.Contains(behind, n) {
			return refuse(ErrCycle, "Circular dependency detected: %s", TaskID(task.N))
		}
		task.Needs = append(task.Needs, n)
	}
	slices.Sort(task.Needs)
	return nil
}

// ClaimTask gives a pending task whose dependencies are completed to the caller. If
// several claim it, one gets it; the others get [ErrUnavailable].
func ClaimTask(ctx context.Context, tx *registry.Tx, caller Caller, team, id string, now time.Time) (registry.Task, error) {
	return changeTask(ctx, tx, caller, team, id, now, func(task *registry.Task, member string) error {
		return claim(ctx, tx, caller, task, member, now)
	})
}

// TaskChange describes the change of a task.
type TaskChange struct {
	// Status is the new status; empty: as it is.
	Status registry.TaskStatus
	// Dependencies take the place of those of a pending task; nil: as they are.
	Dependencies []string
	// Assignee is the member that a pending task is for now, or [All]; empty: as it is.
	Assignee string
}

// UpdateTask changes a task. Its status only moves forward: to in_progress, which is the
// same as [ClaimTask], and to completed, which only its owner and the leader can set.
func UpdateTask(ctx context.Context, tx *registry.Tx, caller Caller, team, id string, c TaskChange, now time.Time) (registry.Task, error) {
	return changeTask(ctx, tx, caller, team, id, now, func(task *registry.Task, member string) error {
		if c.Dependencies != nil {
			if err := isPending(task); err != nil {
				return err
			}
			if err := setDependencies(ctx, tx, task, c.Dependencies); err != nil {
				return err
			}
			// The registry stores the tasks that it waits for.
			if err := tx.PutTask(ctx, task); err != nil {
				return err
			}
		}
		if c.Assignee != "" {
			if err := isPending(task); err != nil {
				return err
			}
			if err := assign(ctx, tx, task, member, c.Assignee, now); err != nil {
				return err
			}
		}
		switch from := task.Status; {
		case c.Status == "":
			return nil
		case from == registry.TaskPending && c.Status == registry.TaskInProgress:
			return claim(ctx, tx, caller, task, member, now)
		case from == registry.TaskInProgress && (c.Status == registry.TaskCompleted || c.Status == from):
			// A member that starts a task which another one has started must not believe to own it.
			if member != task.Owner {
				if err := overrule(ctx, tx, caller, task); err != nil {
					return err
				}
			}
			if c.Status == registry.TaskCompleted {
				task.Status, task.Completed = registry.TaskCompleted, now
			}
			return nil
		case c.Status == from:
			return nil
		default:
			return refuse(ErrInvalid, "Invalid status transition: %s -> %s", from, c.Status)
		}
	})
}

// overrule returns nil if the caller may change a task that is another member's.
func overrule(ctx context.Context, tx *registry.Tx, caller Caller, task *registry.Task) error {
	err := Lead(ctx, tx, caller, task.Team, "")
	if _, refused := errors.AsType[*NotLeaderError](err); refused {
		return refuse(ErrInvalid, "Task %s is owned by %s", TaskID(task.N), task.Owner)
	}
	return err
}

// changeTask applies change to a task, for a member of its team.
func changeTask(ctx context.Context, tx *registry.Tx, caller Caller, team, id string, now time.Time,
	change func(task *registry.Task, member string) error,
) (registry.Task, error) {
	member, err := Member(ctx, tx, caller, team)
	if err != nil {
		return registry.Task{}, err
	}
	task, err := tx.Task(ctx, team, taskNumber(id))
	if errors.Is(err, registry.ErrNotFound) {
		return registry.Task{}, refuse(ErrInvalid, "Task %s not found in team %s", id, team)
	}
	if err != nil {
		return registry.Task{}, err
	}
	if err := change(&task, member); err != nil {
		return registry.Task{}, err
	}
	task.Updated = now
	if err := tx.PutTask(ctx, &task); err != nil {
		return registry.Task{}, err
	}
	return task, Touch(ctx, tx, caller, now)
}

func claim(ctx context.Context, tx *registry.Tx, caller Caller, task *registry.Task, member string, now time.Time) error {
	if err := isPending(task); err != nil {
		return err
	}
	if err := isFor(ctx, tx, caller, task, member); err != nil {
		return err
	}
	waits, err := tx.WaitsFor(ctx, task.Team, task.N)
	if err != nil {
		return err
	}
	if len(waits) > 0 {
		return refuse(ErrUnavailable, "Task %s is not available (waits for: %s)", TaskID(task.N), strings.Join(TaskIDs(waits), ", "))
	}
	task.Status, task.Owner, task.Claimed = registry.TaskInProgress, member, now
	return nil
}

func isPending(task *registry.Task) error {
	if task.Status != registry.TaskPending {
		return refuse(ErrUnavailable, "Task %s is not available (status: %s)", TaskID(task.N), task.Status)
	}
	return nil
}

// assign assigns a task to a member, or to any. The member that does so needs no message.
func assign(ctx context.Context, tx *registry.Tx, task *registry.Task, member, to string, now time.Time) error {
	task.Assignee, task.Receipt = "", registry.Receipt{Quiet: tx.Quiet}
	if to == All {
		return nil
	}
	found, err := recipients(ctx, tx, task.Team, member, to)
	if errors.Is(err, ErrNoRecipient) {
		err = refuse(ErrNoRecipient, "Assignee '%s' is not a member of team '%s'", to, task.Team)
	}
	if err != nil {
		return err
	}
	task.Assignee = found[0]
	if task.Assignee == member {
		task.How, task.Delivered = registry.DeliveredRead, now
	}
	return nil
}

// isFor returns nil if a member may claim a task, that is if the task is not assigned to
// another live member. The leader may claim any.
func isFor(ctx context.Context, tx *registry.Tx, caller Caller, task *registry.Task, member string) error {
	if task.Assignee == "" || task.Assignee == member {
		return nil
	}
	name := task.Assignee
	if name != Leader {
		a, err := live(ctx, tx, task.Assignee)
		if isGone(err) || err == nil && !a.Lost.IsZero() {
			return nil
		}
		if err != nil {
			return err
		}
		name = a.Name
	}
	err := Lead(ctx, tx, caller, task.Team, "")
	if _, refused := errors.AsType[*NotLeaderError](err); refused {
		return refuse(ErrUnavailable, "Task %s is not available (it is for %s)", TaskID(task.N), name)
	}
	return err
}

// Tasks returns the tasks of the caller's team in the order of their numbers. An
// empty status and an empty owner, which is an id or a name, mean all.
func Tasks(ctx context.Context, tx *registry.Tx, caller Caller, team string, status registry.TaskStatus, owner string) ([]registry.Task, error) {
	if _, err := Member(ctx, tx, caller, team); err != nil {
		return nil, err
	}
	if owner != "" && owner != Leader {
		a, err := Find(ctx, tx, team, owner)
		if _, none := errors.AsType[*NoAgentError](err); none {
			err = &NoAgentError{Agent: owner, InTeam: team}
		}
		if err != nil {
			return nil, err
		}
		owner = a.ID
	}
	return tx.Tasks(ctx, registry.TaskQuery{Team: team, Status: status, Owner: owner})
}

// giveBack makes the tasks that a member works on pending again, which is the only
// way back that there is, and returns their ids.
func giveBack(ctx context.Context, tx *registry.Tx, team, member string, now time.Time) ([]string, error) {
	tasks, err := tx.Tasks(ctx, registry.TaskQuery{Team: team, Status: registry.TaskInProgress, Owner: member})
	if err != nil {
		return nil, err
	}
	given := make([]string, len(tasks))
	for i, task := range tasks {
		task.Status, task.Owner, task.Claimed, task.Updated = registry.TaskPending, "", time.Time{}, now
		task.Receipt = registry.Receipt{}
		task.Warning = fmt.Sprintf("Reassigned: previous owner %s terminated", member)
		if err := tx.PutTask(ctx, &task); err != nil {
			return nil, err
		}
		given[i] = TaskID(task.N)
	}
	return given, nil
}
