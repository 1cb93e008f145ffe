package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Tasks are those of the extension to the version 2026-07-28 of the protocol: a client that
// declares it with a request gets a task in place of the answer of a command that takes
// longer than a moment. A task is a worker, and has its id: the one by which all tools know
// it. Its state is derived from the worker at each query; only the cancellations by the
// client are kept here. See
// https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html.
const (
	tasksExtension = "io.modelcontextprotocol/tasks"
	tasksVersion   = "2026-07-28"
	// taskAfter is how long a command may take before the answer is a task.
	taskAfter = time.Second
	// pollEvery is how often a client is advised to ask for a task, in milliseconds.
	pollEvery = 1000
)

// The statuses of tasks that there are here: no worker needs input of the client, and
// what goes wrong with a command is its result.
const (
	taskWorking   = "working"
	taskCompleted = "completed"
	taskCancelled = "cancelled"
)

type task struct {
	sdk.ResultBase
	// ResultType is "task" where it is the answer to a call, "complete" to tasks/get.
	ResultType    string           `json:"resultType,omitempty"`
	TaskID        string           `json:"taskId"`
	Status        string           `json:"status"`
	StatusMessage string           `json:"statusMessage,omitempty"`
	CreatedAt     humane.Timestamp `json:"createdAt"`
	LastUpdatedAt humane.Timestamp `json:"lastUpdatedAt"`
	TTL           *int             `json:"ttlMs"`
	PollInterval  int              `json:"pollIntervalMs"`
	Result        *taskResult      `json:"result,omitempty"`
}

type taskResult struct {
	ResultType        string        `json:"resultType"`
	Content           []sdk.Content `json:"content"`
	StructuredContent any           `json:"structuredContent,omitempty"`
	IsError           bool          `json:"isError,omitempty"`
}

type taskParams struct {
	sdk.ParamsBase
	TaskID string `json:"taskId"`
}

type done struct {
	sdk.ResultBase
	ResultType string `json:"resultType"`
}

// declaresTasks reports whether a request says that its client knows tasks.
func declaresTasks(meta map[string]any) bool {
	version, _ := meta[sdk.MetaKeyProtocolVersion].(string)
	capabilities, _ := meta[sdk.MetaKeyClientCapabilities].(map[string]any)
	extensions, _ := capabilities["extensions"].(map[string]any)
	_, declared := extensions[tasksExtension].(map[string]any)
	return declared && version >= tasksVersion
}

func undeclared() error {
	return &jsonrpc.Error{
		Code: sdk.CodeMissingRequiredClientCapabilities, Message: "Missing required client capability: " + tasksExtension,
		Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
	}
}

func (s *server) addTasks() error {
	return errors.Join(
		addTaskMethod(s, "tasks/get", func(ctx context.Context, id string) (*task, error) {
			t, err := s.task(ctx, id)
			if err == nil {
				t.ResultType = "complete"
			}
			return t, err
		}),
		addTaskMethod(s, "tasks/update", func(ctx context.Context, id string) (*done, error) {
			// No task asks for anything, so every answer is one to ignore.
			_, err := s.taskWorker(ctx, id)
			return &done{ResultType: "complete"}, err
		}),
		addTaskMethod(s, "tasks/cancel", func(ctx context.Context, id string) (*done, error) {
			return &done{ResultType: "complete"}, s.cancelTask(ctx, id)
		}),
	)
}

func addTaskMethod[R sdk.Result](s *server, method string, serve func(ctx context.Context, id string) (R, error)) error {
	return sdk.AddReceivingCustomMethod(s.sdk, method, func(ctx context.Context, _ *sdk.ServerSession, p *taskParams) (none R, _ error) {
		if p == nil {
			return none, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: method + `: missing required "params"`} // the SDK lets it through
		}
		if !declaresTasks(p.GetMeta()) {
			return none, undeclared()
		}
		return serve(ctx, p.TaskID)
	})
}

// discoverable announces the extension to clients of the version that has it.
func discoverable(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		if d, ok := result.(*sdk.DiscoverResult); ok && err == nil {
			d.Capabilities.AddExtension(tasksExtension, nil)
		}
		return result, err
	}
}

type taskRef struct{ id string }

type taskRefKey struct{}

// asTask answers a call with a task if the command takes longer than a moment.
func (s *server) asTask(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		params, ok := r.GetParams().(*sdk.CallToolParamsRaw)
		if !ok || params == nil || params.Name != foreground || !declaresTasks(params.Meta) {
			return next(ctx, method, r)
		}
		var as taskRef
		result, err := next(context.WithValue(ctx, taskRefKey{}, &as), method, r)
		if err != nil || as.id == "" {
			return result, err
		}
		t, err := s.task(ctx, as.id)
		if err != nil {
			return result, nil //nolint:nilerr // the answer says all that the task would
		}
		t.ResultType, t.Result = "task", nil
		if t.Status == taskCompleted {
			t.Status = taskWorking // it has ended right now; the client asks for the result
		}
		return t, nil
	}
}

var errNoTask = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Failed to retrieve task: Task not found"}

// taskWorker returns the worker that a task is, as it is now.
func (s *server) taskWorker(ctx context.Context, id string) (worker.Worker, error) {
	h, err := s.Open(ctx)
	if err != nil {
		return worker.Worker{}, err
	}
	w, err := s.workerOfTask(ctx, h, id)
	return w, errors.Join(err, h.Close())
}

func (s *server) workerOfTask(ctx context.Context, h *host.Host, id string) (worker.Worker, error) {
	if !swarm.ValidName(id) || s.Outside {
		return worker.Worker{}, errNoTask
	}
	ws, _, err := h.Workers(ctx, worker.Selection{Names: []string{id}})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return worker.Worker{}, errNoTask
	case err != nil:
		return worker.Worker{}, err
	}
	// Shells are known by their names, which no other ever has; the name of another
	// worker may be that of the next one.
	w := ws[0]
	if !s.mine(w.Shell) || w.Shell == nil && w.ID != id || w.Shell != nil && (w.Shell.Foreground || w.Name != id) {
		return worker.Worker{}, errNoTask
	}
	return w, nil
}

func (s *server) task(ctx context.Context, id string) (*task, error) {
	w, err := s.taskWorker(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &task{TaskID: id, Status: taskWorking, CreatedAt: humane.At(w.Created), LastUpdatedAt: humane.At(w.Created), PollInterval: pollEvery}
	if !w.Gone() {
		return t, nil
	}
	if !w.Ended.IsZero() {
		t.LastUpdatedAt = humane.At(w.Ended)
	}
	if _, cancelled := s.cancelled.Load(id); cancelled && w.Exit != nil && w.Exit.Cause == swarm.CauseKilled {
		t.Status = taskCancelled
		return t, nil
	}
	t.Status = taskCompleted
	env := s.Env("")
	env.Session = s.Session
	result, err := outcomeOf(ctx, env, w)
	if err != nil {
		return nil, err
	}
	answer, err := answer(result)
	if err != nil {
		return nil, err
	}
	t.Result = &taskResult{ResultType: "complete", Content: answer.Content, StructuredContent: answer.StructuredContent, IsError: answer.IsError}
	return t, nil
}

// outcomeOf returns what came of a task: of a shell what Bash would have answered, of
// another worker how it is.
func outcomeOf(ctx context.Context, env tool.Env, w worker.Worker) (tool.Result, error) {
	if w.Shell != nil {
		return tool.BashOutcome(ctx, env, w.Name)
	}
	input, err := json.Marshal(tool.WorkerStatusInput{Name: w.ID})
	if err != nil {
		return tool.Result{}, err
	}
	status, _ := tool.Find("worker-status")
	return status.Call(ctx, env, input), nil
}

func (s *server) cancelTask(ctx context.Context, id string) error {
	w, err := s.taskWorker(ctx, id)
	if err != nil || w.Gone() {
		return err
	}
	if !s.changes.add(1) {
		return errLeaving
	}
	defer s.changes.done()
	name, input := "worker-kill", map[string]string{"name": w.ID}
	if w.Shell != nil {
		name, input = "KillShell", map[string]string{"shell_id": w.Name}
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return err
	}
	s.cancelled.Store(id, true)
	kill, _ := tool.Find(name)
	env := s.Env(name)
	env.Session = s.Session
	result := kill.Call(context.WithoutCancel(ctx), env, raw)
	if result.Failed {
		s.cancelled.Delete(id)
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: result.Text()}
	}
	if s.behind.add(1) {
		context.AfterFunc(ctx, func() {
			defer s.behind.done()
			s.complete(ctx, result)
		})
	}
	return nil
}
