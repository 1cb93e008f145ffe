package mcp

import (
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host/tool"
)

// When the wait returns, all calls that were let in before have ended, and none is let in
// afterwards.
func TestGroup(t *testing.T) {
	t.Parallel()
	for range 200 {
		var g group
		var under atomic.Int64
		var adding sync.WaitGroup
		begun := make(chan struct{}, 8)
		for range 8 {
			adding.Go(func() {
				begun <- struct{}{}
				for g.add(1) {
					under.Add(1)
					under.Add(-1)
					g.done()
				}
			})
		}
		<-begun
		g.wait()
		if n := under.Load(); n != 0 {
			t.Fatalf("%d are under way after the wait", n)
		}
		if g.add(1) {
			t.Fatal("let in after the wait")
		}
		adding.Wait()
	}
}

// A call that comes while the server leaves is refused, and starts nothing.
func TestCallWhileLeaving(t *testing.T) {
	t.Parallel()
	s := &server{Options: Options{Logger: hclog.NewNullLogger(), Env: func(string) tool.Env { return tool.Env{} }}}
	s.behind.wait()
	for _, known := range tool.All() {
		r := &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: known.Name, Arguments: json.RawMessage("{}")}}
		if _, err := s.call(t.Context(), known, r); !errors.Is(err, errLeaving) {
			t.Errorf("%s: %v", known.Name, err)
		}
	}
	s.changes.wait() // holds of refused calls would block here
}
