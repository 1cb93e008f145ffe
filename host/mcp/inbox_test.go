package mcp

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host/tool"
)

// An agent has its inbox under a name of its own, and is notified of each message after its
// subscription was answered.
func TestOwnInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version = "2025-11-25" // in the newest one no one waits for the answer to a subscription
	updated := make(chan string, 10)
	c, end := w.start(t, aliceToken, nil, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	})
	defer end()
	if !listsInbox(t, c) {
		t.Error("the inbox is not listed")
	}
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: inboxURI}); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"hello", "again"} {
		w.send(t, "agent-aaaaaa", text)
		if uri := <-updated; uri != inboxURI {
			t.Errorf("notified of %q", uri)
		}
		got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: inboxURI})
		if err != nil {
			t.Fatal(err)
		}
		if n := got.Contents[0].Meta["unread"]; n != float64(i+1) || !strings.HasSuffix(got.Contents[0].Text, "\n"+text+"\n") {
			t.Errorf("%v unread messages: %q", n, got.Contents[0].Text)
		}
	}
	if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: inboxURI + "/other"}); err == nil {
		t.Error("the inbox of a team that does not exist was read")
	}
}

// A person, and who is not offered teams, has no inbox of its own.
func TestNoOwnInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for token, sets := range map[string][]tool.Set{"": tool.Sets(), aliceToken: {tool.Shells}} {
		c := w.serve(t, token, sets)
		if listsInbox(t, c) {
			t.Errorf("for the token %q the inbox is listed", token)
		}
		if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: inboxURI}); err == nil {
			t.Errorf("for the token %q the inbox was read", token)
		}
	}
}

func listsInbox(t *testing.T, c *sdk.ClientSession) (listed bool) {
	t.Helper()
	for r, err := range c.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		listed = listed || r.URI == inboxURI
	}
	return listed
}
