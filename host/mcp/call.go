package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/warn"
)

// foreground is the only tool that changes things and still ends with its call: nothing
// else shows the output of the command.
const foreground = "Bash"

// call calls a tool for the client. The context is that of the request: it ends when
// the client cancels it or is gone, and once it was answered.
func (s *server) call(ctx context.Context, t tool.Tool, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	// It comes before the holds, which a panic in it must not keep.
	env := s.Env(t.Name)
	work, ended := ctx, func() {}
	// A plugin has to complete or undo what a client no longer waits for.
	if !t.ReadOnly && t.Name != foreground && !tool.IsOfPlugin(t.Name) {
		if !s.changes.add(1) {
			return nil, errLeaving
		}
		work, ended = context.WithoutCancel(ctx), s.changes.done
	}
	// One hold is for the work, one for the work after the answer.
	if !s.behind.add(2) {
		ended()
		return nil, errLeaving
	}
	report, hush := progress(ctx, r)
	defer hush()
	env.Session, env.Progress, env.Patience = s.Session, report, cmp.Or(s.CallLimit, DefaultCallLimit)
	env.Gone = ctx.Done()
	as, _ := ctx.Value(taskRefKey{}).(*taskRef)
	if as != nil {
		env.TaskAfter = taskAfter
	}
	done := make(chan outcome)
	input := r.Params.Arguments
	if bytes.Equal(input, []byte("null")) {
		input = nil // what some clients make of none
	}
	go func() {
		defer s.behind.done()
		o := s.callTool(work, env, t, input)
		ended()
		select {
		case done <- o:
		case <-ctx.Done():
			s.complete(ctx, o.result)
		}
	}()
	select {
	case o := <-done:
		if as != nil {
			as.id = o.result.Task
		}
		// The context ends once the answer is written.
		context.AfterFunc(ctx, func() {
			defer s.behind.done()
			s.complete(ctx, o.result)
		})
		if o.err != nil {
			return nil, o.err
		}
		return answer(o.result)
	case <-ctx.Done():
		s.behind.done()
		return nil, ctx.Err()
	}
}

// outcome is what came of a call: a result, or an error if the tool has panicked.
type outcome struct {
	result tool.Result
	err    error
}

func (s *server) callTool(ctx context.Context, env tool.Env, t tool.Tool, input json.RawMessage) (o outcome) {
	defer s.caught("the tool "+t.Name, func() { o = outcome{err: errPanic} })
	return outcome{result: t.Call(ctx, env, input)}
}

// complete does the rest of a call after its answer has been sent.
func (s *server) complete(ctx context.Context, r tool.Result) {
	if r.AfterAnswer == nil {
		return
	}
	defer s.caught("the rest of a call", nil)
	warn.If(s.Logger, r.AfterAnswer(context.WithoutCancel(ctx)), "after the answer")
}

// answer returns the output twice: as JSON for programs, and as text for readers. It is an
// error if the tool failed, but not if only the command that it ran failed.
func answer(r tool.Result) (*sdk.CallToolResult, error) {
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	if err := e.Encode(r.Output); err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: r.Text()}},
		StructuredContent: json.RawMessage(bytes.TrimSpace(data.Bytes())),
		IsError:           r.Failed && !r.OnlyCommand,
	}, nil
}

// progress returns a function that reports the progress of a call to the client, if it
// asked for that, and one that ends the reports: none may follow the answer.
func progress(ctx context.Context, r *sdk.CallToolRequest) (report func(text string, done, total float64), hush func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil, func() {}
	}
	var mu sync.Mutex
	last, over := -1.0, false
	report = func(text string, done, total float64) {
		mu.Lock()
		defer mu.Unlock()
		if total > 0 {
			done = min(done, total)
		}
		// The protocol demands that each has more progress than the one before.
		if over || done <= last {
			return
		}
		last = done
		// A client that misses it still gets the answer.
		_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Message: text, Progress: done, Total: total,
		})
	}
	return report, func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// errPanic is the answer to a call whose handler has panicked. The log has the
// stack: the client may be in a container, and could not use it.
var errPanic = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error in swarm mcp: its log has the stack"}

// guarded answers a call whose handler panics with an error. A panic would end the process
// otherwise, with all shells of the session and the clients of all other calls.
func (s *server) guarded(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		defer s.caught(method, func() { result, err = nil, errPanic })
		return next(ctx, method, r)
	}
}

// caught is deferred by whatever must not end the process. After a panic it logs the stack
// and calls after, which may be nil.
func (s *server) caught(what string, after func()) {
	// recover works here because this function itself is what is deferred.
	why := recover()
	if why == nil {
		return
	}
	s.Logger.Error("panic", "in", what, "error", fmt.Sprint(why), "stack", string(debug.Stack()))
	if after != nil {
		after()
	}
}
