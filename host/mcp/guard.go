package mcp

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// errPanic is the answer to a call whose handler has panicked. The log has the
// stack: the client may be in a container, and could not use it.
var errPanic = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error in swarm-mcp: its log has the stack"}

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

// needsParams refuses a call of a method that the SDK lets through without parameters.
func needsParams(method string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: method + `: missing required "params"`}
}
