package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/proc"
)

// Worker is a worker in the answers of tools.
type Worker struct {
	ID        string           `json:"id" jsonschema:"ID of the worker, and of its task in the protocol"`
	Name      string           `json:"name" jsonschema:"Name of the worker"`
	Status    string           `json:"status" jsonschema:"Its status; lost: its exit will never be known; unknown: its backend can't be asked" schema:"enum=starting|pending|running|stopped|lost|unknown"`
	Reason    string           `json:"reason,omitempty" jsonschema:"More about the status"`
	State     string           `json:"state,omitempty" jsonschema:"State of an agent, as its screen shows it or its hooks report it: working, idle, blocked, background, compacting, limited, broken, unknown"`
	StateWhy  string           `json:"state_reason,omitempty" jsonschema:"The usage limit or the error at which an agent stopped, or its background work"`
	Question  string           `json:"question,omitempty" jsonschema:"Question of a blocked agent; a person or the leader has to answer"`
	Choices   []string         `json:"choices,omitempty" jsonschema:"The answers that it offers"`
	Dialog    *agent.Dialog    `json:"dialog,omitempty" jsonschema:"The whole of what it asks"`
	ExitCode  *int             `json:"exit_code,omitempty" jsonschema:"Exit code of the main process, 128+n after signal n" schema:"number"`
	Signal    string           `json:"signal,omitempty" jsonschema:"Signal that ended the main process"`
	Command   []string         `json:"command" jsonschema:"Command and arguments"`
	Cwd       string           `json:"cwd,omitempty" jsonschema:"Working directory"`
	Branch    string           `json:"branch,omitempty" jsonschema:"Branch of its workspace"`
	Backend   string           `json:"backend" jsonschema:"Backend that runs it"`
	PID       int              `json:"pid,omitempty" jsonschema:"Main process while it runs" schema:"number"`
	Tags      []string         `json:"tags,omitempty" jsonschema:"Its tags"`
	Team      string           `json:"team,omitempty" jsonschema:"Team that it belongs to"`
	Agent     string           `json:"agent,omitempty" jsonschema:"ID of the agent that runs in it"`
	StartedAt humane.Timestamp `json:"started_at,omitzero" jsonschema:"When it was started"`
	EndedAt   humane.Timestamp `json:"ended_at,omitzero" jsonschema:"When it ended"`
}

func workerOf(w worker.Worker) Worker {
	out := Worker{
		ID: w.ID, Name: w.Name, Status: string(w.Status), Reason: w.Reason,
		Command: append([]string{}, w.Command...), Cwd: w.Dir, Backend: w.Backend, PID: w.PID, Tags: w.Tags,
		Team: w.Team, Agent: w.Agent,
		StartedAt: humane.At(w.Started), EndedAt: humane.At(w.Ended),
	}
	if text := w.Perhaps(); text != "" {
		out.Reason = strings.TrimPrefix(w.Reason+", "+text, ", ")
	}
	if w.Workspace != nil {
		out.Branch = w.Workspace.Branch
	}
	if s := w.State; s != nil {
		out.State, out.Question, out.Choices = string(s.State), s.Question, profile.ChoiceLines(s.Choices)
		out.Dialog, out.StateWhy = agent.DialogOf(s.Dialog), s.Reason
	}
	out.ExitCode, out.Signal = exitOf(w)
	return out
}

// exitOf returns the exit code of a worker that has ended, and the signal that ended it.
func exitOf(w worker.Worker) (code *int, signal string) {
	if w.Exit == nil || !w.Gone() {
		return nil, ""
	}
	return new(proc.ExitCode(w.Exit.Code, w.Exit.Signal)), w.Exit.Signal
}

// shellError names a background shell where a worker is meant.
type shellError struct{ name string }

func (e *shellError) Error() string {
	return fmt.Sprintf("'%s' is a background shell: use BashOutput, KillShell and tasks", e.name)
}

// isShell refuses a worker that is a background shell, which its session alone sees.
func isShell(w worker.Worker) error {
	if w.Shell != nil {
		return &shellError{w.Name}
	}
	return nil
}

func findWorkers(ctx context.Context, h *host.Host, states bool, names ...string) ([]worker.Worker, error) {
	ws, _, err := h.Workers(ctx, worker.Selection{Names: names, States: states})
	for _, w := range ws {
		err = errors.Join(err, isShell(w))
	}
	return ws, err
}

func findWorker(ctx context.Context, h *host.Host, name string) (worker.Worker, error) {
	ws, err := findWorkers(ctx, h, false, name)
	if err != nil {
		return worker.Worker{}, err
	}
	return ws[0], nil
}

type WorkerListInput struct {
	All bool   `json:"all,omitempty" jsonschema:"Include ended workers" schema:"default=false"`
	Tag string `json:"tag,omitempty" jsonschema:"Only workers with this tag"`
}

type WorkerListOutput struct {
	outcome
	Workers  []Worker `json:"workers" jsonschema:"The workers, the oldest first"`
	Omitted  int      `json:"omitted,omitempty" jsonschema:"Number of omitted older workers: narrow the list down with tag" schema:"number"`
	Warnings []string `json:"warnings,omitempty" jsonschema:"Omitted workers, and why"`
	failure
}

// maxListed is how many workers one answer has at most: a longer list is useless to
// a model.
const maxListed = 100

var workerList = &definition[WorkerListInput, WorkerListOutput]{
	tool: Tool{
		Name:        "worker-list",
		Title:       "List workers",
		Description: `List running workers of all sessions; tasks lists background shells.`,
		Set:         Workers,
		ReadOnly:    true,
		Idempotent:  true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in WorkerListInput) (WorkerListOutput, error) {
		var out WorkerListOutput
		ws, warnings, err := h.Workers(ctx, worker.Selection{All: in.Tag == "", Tag: in.Tag, States: true})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
		out.Warnings = warnings
		ws = slices.DeleteFunc(ws, func(w worker.Worker) bool { return w.Shell != nil || !in.All && w.Gone() })
		if out.Omitted = max(0, len(ws)-maxListed); out.Omitted > 0 {
			ws = ws[out.Omitted:]
		}
		for _, w := range ws {
			out.Workers = append(out.Workers, workerOf(w))
		}
		return out, nil
	},
}

type WorkerStatusInput struct {
	Name string `json:"name" jsonschema:"Name of the worker" schema:"min=1"`
}

type WorkerStatusOutput struct {
	outcome
	Worker *Worker `json:"worker,omitempty" jsonschema:"The worker"`
	failure
}

var workerStatus = &definition[WorkerStatusInput, WorkerStatusOutput]{
	tool: Tool{
		Name:        "worker-status",
		Title:       "Show the status of a worker",
		Description: `Return the status of a worker, running or ended: exit code, command, times; an agent's question.`,
		Set:         Workers,
		ReadOnly:    true,
		Idempotent:  true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in WorkerStatusInput) (WorkerStatusOutput, error) {
		ws, err := findWorkers(ctx, h, true, in.Name)
		if err != nil {
			return WorkerStatusOutput{}, err
		}
		return WorkerStatusOutput{Worker: new(workerOf(ws[0]))}, nil
	},
}
