// Package mcptest is an MCP client for tests: it starts a server as agents do, as a
// program of its own, and calls its tools. It is imported by tests alone, and by the
// client that scripts run.
package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Client is the client of one server.
type Client struct {
	*sdk.ClientSession
	// Server is the server's process.
	Server *exec.Cmd
	// acknowledged gets a value for each subscription of the newest protocol that began.
	acknowledged chan struct{}
	// newest says that the client speaks the newest protocol.
	newest bool
}

// Options are the options of a client. The zero value is a client of the newest protocol
// that ignores notices.
type Options struct {
	// Version is that of the protocol that it speaks; empty: the newest.
	Version string
	// Progress, Updated and ListChanged are called for notices; nil: they are ignored.
	Progress    func(*sdk.ProgressNotificationParams)
	Updated     func(uri string)
	ListChanged func()
}

// Handshake is the newest version of the protocol in which clients introduce
// themselves first, as nearly all of them do.
const Handshake = "2025-11-25"

// Start starts a server and introduces a client to it.
func Start(ctx context.Context, server *exec.Cmd, o Options) (*Client, error) {
	handlers := &sdk.ClientOptions{}
	if o.Progress != nil {
		handlers.ProgressNotificationHandler = func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { o.Progress(r.Params) }
	}
	if o.Updated != nil {
		handlers.ResourceUpdatedHandler = func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { o.Updated(r.Params.URI) }
	}
	if o.ListChanged != nil {
		handlers.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) { o.ListChanged() }
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, handlers)
	acknowledged := make(chan struct{}, 100)
	client.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				acknowledged <- struct{}{}
			}
			return next(ctx, method, r)
		}
	})
	session, err := client.Connect(ctx, &sdk.CommandTransport{Command: server}, &sdk.ClientSessionOptions{ProtocolVersion: o.Version})
	if err != nil {
		// The SDK has waited for a server that it started.
		return nil, fmt.Errorf("connect with %v (%v): %w", server, server.ProcessState, err)
	}
	return &Client{ClientSession: session, Server: server, acknowledged: acknowledged, newest: o.Version == ""}, nil
}

// Subscribe returns when the subscription has begun. The SDK's own method does not wait for
// that in the newest protocol, and never learns that the server has refused.
func (c *Client) Subscribe(ctx context.Context, params *sdk.SubscribeParams) error {
	if err := c.ClientSession.Subscribe(ctx, params); err != nil || !c.newest {
		return err
	}
	select {
	case <-c.acknowledged:
		return nil
	case <-time.After(time.Minute):
		return errors.New("the server has not acknowledged the subscription")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Tool calls a tool. The answer is its structured content, one line of JSON; failed says that it is an error.
func (c *Client) Tool(ctx context.Context, name string, input json.RawMessage) (answer json.RawMessage, failed bool, err error) {
	return c.ToolWith(ctx, &sdk.CallToolParams{Name: name, Arguments: input})
}

// ToolWith is Tool with all parameters of the call.
func (c *Client) ToolWith(ctx context.Context, params *sdk.CallToolParams) (answer json.RawMessage, failed bool, err error) {
	result, err := c.CallTool(ctx, params)
	if err != nil {
		return nil, false, err
	}
	if result.StructuredContent == nil {
		return nil, false, errors.New("the answer has no structured content")
	}
	structured, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return nil, false, err
	}
	text, err := textOf(result)
	switch {
	case err != nil:
		return nil, false, err
	case json.Valid([]byte(text)) && strings.HasPrefix(text, "{"):
		return nil, false, fmt.Errorf("the text of the answer is JSON: %s", text)
	}
	return structured, result.IsError, nil
}

// Text calls a tool and returns the text of the answer.
func (c *Client) Text(ctx context.Context, name string, input json.RawMessage) (string, error) {
	result, err := c.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: input})
	if err != nil {
		return "", err
	}
	return textOf(result)
}

func textOf(result *sdk.CallToolResult) (string, error) {
	if len(result.Content) != 1 {
		return "", fmt.Errorf("the answer has %d parts, want 1", len(result.Content))
	}
	text, ok := result.Content[0].(*sdk.TextContent)
	if !ok || text.Text == "" {
		return "", fmt.Errorf("the answer is %#v, want text", result.Content[0])
	}
	return text.Text, nil
}
