package mcp

import (
	"context"
	"errors"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/tool"
)

// A call that waits for messages and is cancelled leaves those that come later unread:
// no one has seen them.
func TestCancelledWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begun := make(chan string, 2)
	w.called = func(tool string) { begun <- tool }
	c, end := w.start(t, "", tool.Sets(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "read-messages", Arguments: map[string]any{"teamName": "web", "wait": 50000}})
		called <- err
	}()
	<-begun
	cancel()
	if err := <-called; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	// The server takes messages in their order.
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "worker-list"}); err != nil {
		t.Fatal(err)
	}
	w.send(t, team.Leader, "hello")
	end()
	w.change(t, func(ctx context.Context, tx *registry.Tx) error {
		n, err := tx.Unread(ctx, "web", team.Leader)
		if n != 1 {
			t.Errorf("%d messages are unread, want 1", n)
		}
		return err
	})
}
