package mcp

import (
	"context"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// A client is notified when its tools change because a team was created or deleted, by
// whatever process. Changes of other teams are not its own.
func TestToolsFollowTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	changed := make(chan struct{}, 100)
	c, end := w.start(t, aliceToken, nil, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
	})
	defer end()
	offered := func(name string) bool {
		_, names := cost(t, c)
		return slices.Contains(names, name)
	}
	await := func(name string, want bool) {
		t.Helper()
		for offered(name) != want {
			select {
			case <-changed:
			case <-t.Context().Done():
				t.Fatalf("%s is offered: %t", name, !want)
			}
		}
	}
	if offered("spawn-agent") {
		t.Fatal("an agent is offered a leader's tools")
	}
	create := func(name, worker string) {
		t.Helper()
		w.change(t, func(ctx context.Context, tx *registry.Tx) error {
			_, err := team.Create(ctx, tx, team.Caller{WorkerID: worker}, team.New{Name: name}, time.Now())
			return err
		})
	}
	create("other", "w2")
	create("mine", "w1")
	<-changed
	await("spawn-agent", true)
	await("worker-spawn", false)
	w.change(t, func(ctx context.Context, tx *registry.Tx) error { return tx.DeleteTeam(ctx, "mine") })
	<-changed
	await("spawn-agent", false)
	await("worker-spawn", true)
}
