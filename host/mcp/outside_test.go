package mcp

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/tool"
)

// TestOutside has a server that serves a worker from outside: the caller is that worker
// whatever the environment says, and no call reaches beyond its team.
func TestOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open := func(ctx context.Context) (*host.Host, error) {
		return host.Open(ctx, host.Options{
			Dir: filepath.Join(w.dir, "state"), Executable: filepath.Join(w.dir, "none", "swarm"), Worker: "w1",
			Env: []string{"PATH=" + filepath.Join(w.dir, "none"), "SWARM_TOKEN=of no agent", "SWARM_WORKER_ID=other"},
		})
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Serve(context.WithoutCancel(t.Context()), Options{
			In: in, Out: out, Version: "0", Outside: true,
			Env: func(string) tool.Env { return tool.Env{Open: open} },
		})
		_ = out.Close()
	}()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		t.Fatal(err)
	}
	if text := c.InitializeResult().Instructions; !strings.Contains(text, "You are agent alice of team web") {
		t.Errorf("instructions %q", text)
	}
	listed, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range listed.Tools {
		names = append(names, l.Name)
	}
	for _, known := range tool.All() {
		allowed := slices.Contains(forContained, known.Name)
		if slices.Contains(names, known.Name) != allowed {
			t.Errorf("'%s' is allowed: %v, the list has %q", known.Name, allowed, names)
		}
		if allowed {
			continue
		}
		_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: known.Name, Arguments: map[string]any{}})
		if err == nil || !strings.Contains(err.Error(), "is not offered in a container") {
			t.Errorf("'%s' answers %v", known.Name, err)
		}
	}
	for _, uri := range []string{"swarm://workers/w1", "swarm://workers/web-alice"} {
		if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s can be read", uri)
		}
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
			t.Errorf("%s can be followed", uri)
		}
	}
	if got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: inboxURI}); err != nil || len(got.Contents) != 1 {
		t.Errorf("the inbox: %+v, %v", got, err)
	}
	_ = c.Close()
	_ = toServer.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
