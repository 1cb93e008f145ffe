package tool

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/humane"
)

type Task struct {
	ID           string           `json:"id" jsonschema:"ID of the task"`
	Title        string           `json:"title" jsonschema:"What is to be done"`
	Description  string           `json:"description,omitempty" jsonschema:"Details"`
	Priority     string           `json:"priority" jsonschema:"Priority" schema:"enum=high|normal|low"`
	Status       string           `json:"status" jsonschema:"Status of the task" schema:"enum=pending|in_progress|completed"`
	Owner        string           `json:"owner,omitempty" jsonschema:"ID of the member that claimed it"`
	Assignee     string           `json:"assignee,omitempty" jsonschema:"ID of the member that it is for; absent: any"`
	How          string           `json:"how,omitempty" jsonschema:"How the assignee was notified" schema:"enum=nudging|nudge|unproven|hook|read"`
	Brought      humane.Timestamp `json:"brought,omitzero" jsonschema:"When the assignee was notified"`
	CreatedAt    humane.Timestamp `json:"createdAt" jsonschema:"When it was created"`
	UpdatedAt    humane.Timestamp `json:"updatedAt" jsonschema:"When it changed last"`
	ClaimedAt    humane.Timestamp `json:"claimedAt,omitzero" jsonschema:"When it was claimed"`
	CompletedAt  humane.Timestamp `json:"completedAt,omitzero" jsonschema:"When it was completed"`
	Dependencies []string         `json:"dependencies" jsonschema:"IDs of tasks that must be completed first"`
	Blocks       []string         `json:"blocks" jsonschema:"IDs of tasks that wait for it"`
	Warning      string           `json:"warning,omitempty" jsonschema:"Anything unusual about the task"`
}

type TaskOutput struct {
	outcome
	Task *Task `json:"task,omitempty" jsonschema:"The task as it is now"`
	failure
}

type TaskCreateInput struct {
	TeamName     string   `json:"teamName" jsonschema:"Name of the team" schema:"min=1"`
	Title        string   `json:"title" jsonschema:"What is to be done" schema:"min=1"`
	Description  string   `json:"description,omitempty" jsonschema:"Details"`
	Priority     string   `json:"priority,omitempty" jsonschema:"Priority" schema:"default=normal,enum=high|normal|low"`
	Dependencies []string `json:"dependencies,omitempty" jsonschema:"IDs of tasks to do first"`
	Assignee     string   `json:"assignee,omitempty" jsonschema:"Member that it is for"`
}

type TaskClaimInput struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team" schema:"min=1"`
	TaskID   string `json:"taskId" jsonschema:"ID of the task" schema:"min=1"`
}

type TaskUpdateInput struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team" schema:"min=1"`
	TaskID   string `json:"taskId" jsonschema:"ID of the task" schema:"min=1"`
	Status   string `json:"status" jsonschema:"in_progress claims it" schema:"enum=pending|in_progress|completed"`
	// Dependencies replace those of a pending task; nil: they stay.
	Dependencies []string `json:"dependencies,omitzero" jsonschema:"New list, if pending"`
	Assignee     string   `json:"assignee,omitempty" jsonschema:"New one, or all"`
}

type TaskListInput struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team" schema:"min=1"`
	Status   string `json:"status,omitempty" jsonschema:"Only these" schema:"enum=pending|in_progress|completed"`
	Owner    string `json:"owner,omitempty" jsonschema:"Member"`
}

type TaskListOutput struct {
	outcome
	Tasks []Task `json:"tasks" jsonschema:"The tasks, the oldest first"`
	failure
}

var TaskCreate = &definition[TaskCreateInput, TaskOutput]{
	tool: Tool{
		Name:        "task-create",
		Title:       "Create a task",
		Set:         Teams,
		Member:      true,
		Description: `Create a task for the team.`,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in TaskCreateInput) (TaskOutput, error) {
		return taskOutput(change(ctx, h, in.TeamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller, now time.Time) (registry.Task, error) {
			return team.CreateTask(ctx, tx, caller, in.TeamName, team.NewTask{
				Title: in.Title, Description: in.Description, Priority: registry.Priority(in.Priority), Dependencies: in.Dependencies,
				Assignee: in.Assignee,
			}, now)
		}))
	},
}

var TaskClaim = &definition[TaskClaimInput, TaskOutput]{
	tool: Tool{
		Name:        "task-claim",
		Title:       "Claim a task",
		Set:         Teams,
		Member:      true,
		Description: `Take a pending task. Of several claims at once, one succeeds.`,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in TaskClaimInput) (TaskOutput, error) {
		return taskOutput(change(ctx, h, in.TeamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller, now time.Time) (registry.Task, error) {
			return team.ClaimTask(ctx, tx, caller, in.TeamName, in.TaskID, now)
		}))
	},
}

var TaskUpdate = &definition[TaskUpdateInput, TaskOutput]{
	tool: Tool{
		Name:        "task-update",
		Title:       "Update a task",
		Set:         Teams,
		Member:      true,
		Description: `Move a task forward: pending, in_progress, completed. Only its owner or the leader completes it.`,
		Idempotent:  true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in TaskUpdateInput) (TaskOutput, error) {
		return taskOutput(change(ctx, h, in.TeamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller, now time.Time) (registry.Task, error) {
			return team.UpdateTask(ctx, tx, caller, in.TeamName, in.TaskID, team.TaskChange{
				Status: registry.TaskStatus(in.Status), Dependencies: in.Dependencies, Assignee: in.Assignee,
			}, now)
		}))
	},
}

var TaskList = &definition[TaskListInput, TaskListOutput]{
	tool: Tool{
		Name:        "task-list",
		Title:       "List tasks",
		Set:         Teams,
		Member:      true,
		Description: `List the tasks of the team.`,
		ReadOnly:    true,
		Idempotent:  true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in TaskListInput) (out TaskListOutput, err error) {
		tasks, err := agent.Look(ctx, h, in.TeamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller) ([]registry.Task, error) {
			return team.Tasks(ctx, tx, caller, in.TeamName, registry.TaskStatus(in.Status), in.Owner)
		})
		for _, t := range tasks {
			out.Tasks = append(out.Tasks, task(t))
		}
		return out, err
	},
}

func taskOutput(t registry.Task, err error) (TaskOutput, error) {
	return TaskOutput{Task: new(task(t))}, err
}

func task(t registry.Task) Task {
	return Task{
		ID: team.TaskID(t.N), Title: t.Title, Description: t.Description, Priority: string(t.Priority),
		Status: string(t.Status), Owner: t.Owner, Assignee: t.Assignee, How: string(t.How), Brought: humane.At(t.Delivered),
		CreatedAt: humane.At(t.Created), UpdatedAt: humane.At(t.Updated),
		ClaimedAt: humane.At(t.Claimed), CompletedAt: humane.At(t.Completed),
		Dependencies: team.TaskIDs(t.Needs), Blocks: team.TaskIDs(t.Blocks), Warning: t.Warning,
	}
}
