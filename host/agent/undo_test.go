package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
)

// A team whose server can't be started is undone within a limit, also while another process
// holds the lock of the server's worker: the end of that worker is given up, and the name of the
// team is free again.
func TestCreateTeamUndoIsLimited(t *testing.T) { //nolint:paralleltest // it changes the limit
	w := newWorld(t)
	defer agent.SetUndoLimit(500 * time.Millisecond)()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := w.host()
	done := make(chan error, 1)
	go func() {
		// It never listens.
		_, err := agent.CreateTeam(ctx, h, agent.CreateRequest{TeamName: crew, Server: []string{"sleep", "1000"}, Dir: w.root})
		done <- err
	}()
	var id string
	w.wait("the server runs", func() bool {
		ws, _, err := w.host().Workers(t.Context(), worker.Selection{Names: []string{crew + "-server"}})
		if err == nil && len(ws) == 1 && ws[0].Status == worker.StatusRunning {
			id = ws[0].ID
		}
		return id != ""
	})
	dir := statedir.Dir(w.state())
	unlock, err := dir.Lock(t.Context(), id)
	w.ok(err)
	cancel()
	select {
	case err := <-done:
		if err == nil {
			t.Error("the team was created")
		}
	case <-time.After(10 * time.Second):
		t.Error("the undo of the team has no limit")
	}
	unlock()
	err = w.host().Store().View(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
		_, err := tx.Team(ctx, crew)
		return err
	})
	if err == nil {
		t.Error("the team is still there")
	}
}
