package liveness_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// silence makes the last heartbeat of an agent that old.
func silence(t *testing.T, r *hosttest.Rig, name string, age time.Duration) {
	t.Helper()
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
		a, err := tx.Agent(ctx, "agent-"+name)
		if err != nil {
			return err
		}
		a.Heartbeat = time.Now().Add(-age)
		return tx.PutAgent(ctx, &a)
	})
}

// TestSweepOfSilence: who says nothing and writes nothing is inactive, and keeps its
// tasks; what it writes counts.
func TestSweepOfSilence(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	for _, name := range []string{"silent", "writing", "fresh"} {
		r.MustSpawn(t, name, "one", hosttest.AsAgent)
	}
	task := r.ClaimTask(t, "silent")
	silence(t, r, "silent", time.Hour)
	silence(t, r, "writing", time.Hour)
	log := filepath.Join(r.StateDir().RunDir(r.Worker(t, "writing").ID), rundir.LogFile)
	if err := os.WriteFile(log, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	statuses := func() [3]registry.AgentStatus {
		return [3]registry.AgentStatus{r.Agent(t, "silent").Status, r.Agent(t, "writing").Status, r.Agent(t, "fresh").Status}
	}
	// A look changes nothing.
	signs, err := r.Liveness().Signs(t.Context(), hosttest.TeamName)
	if err != nil || signs[r.Worker(t, "writing").ID].Output.IsZero() || len(signs) != 3 {
		t.Errorf("signs %+v, %v", signs, err)
	}
	if got := statuses(); got != [3]registry.AgentStatus{registry.AgentActive, registry.AgentActive, registry.AgentActive} {
		t.Errorf("after a look they are %s", got)
	}
	// Nor does a call that is about others.
	r.MustKill(t, worker.Selection{Names: []string{r.MustSpawn(t, "plain", "one").ID}}, kill.Request{})
	if got := statuses(); got[0] != registry.AgentActive {
		t.Errorf("after the kill of another they are %s", got)
	}
	// A caller is not silent.
	if warnings, err := r.Sweeper().Sweep(t.Context(), hosttest.TeamName, r.Worker(t, "silent").ID); err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	if got := statuses(); got[0] != registry.AgentActive {
		t.Errorf("while it calls they are %s", got)
	}
	for range 2 {
		if warnings, err := r.Sweeper().Sweep(t.Context(), ""); err != nil || len(warnings) > 0 {
			t.Fatal(warnings, err)
		}
		if got := statuses(); got != [3]registry.AgentStatus{registry.AgentInactive, registry.AgentActive, registry.AgentActive} {
			t.Errorf("they are %s", got)
		}
	}
	if got := task(); got.Owner != "agent-silent" {
		t.Errorf("its task is %+v", got)
	}
	mail := r.Mail(t)
	if len(mail) != 1 || !strings.HasPrefix(mail[0], "Agent silent (agent-silent) became inactive: Heartbeat timeout: 36") {
		t.Errorf("the leader was notified of %q", mail)
	}
	// Its end is another thing, and reported once more.
	r.One.End(t, "silent", swarm.Exit{Code: 1, Cause: swarm.CauseExited})
	signs, err = r.Liveness().Signs(t.Context(), hosttest.TeamName)
	if s := signs[r.Record(t, "silent").ID]; err != nil || !s.Gone || s.Reason != "exit status 1" {
		t.Errorf("signs %+v, %v", s, err)
	}
	if _, err := r.Sweeper().Sweep(t.Context(), hosttest.TeamName); err != nil {
		t.Fatal(err)
	}
	if got := task(); got.Owner != "" {
		t.Errorf("its task is %+v", got)
	}
	if mail := r.Mail(t); len(mail) != 1 {
		t.Errorf("the leader was notified of %q", mail)
	}
	// One whose worker is cleaned can't be started again.
	if out, err := r.Kill().Clean(t.Context(), worker.Selection{Names: []string{"silent"}}, kill.CleanRequest{}); err != nil || out[0].Err != nil {
		t.Fatal(out, err)
	}
	if got := r.Agent(t, "silent"); got.Status != registry.AgentTerminated {
		t.Errorf("it is %s", got.Status)
	}
	// One whose record is not there at all has ended.
	fresh := r.Agent(t, "fresh").WorkerID
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error { return tx.Delete(ctx, fresh) })
	signs, err = r.Liveness().Signs(t.Context(), hosttest.TeamName)
	if s := signs[fresh]; err != nil || !s.Gone {
		t.Errorf("signs %+v, %v", s, err)
	}
}

// TestSweepWithoutBackend: who can't be asked for has not ended.
func TestSweepWithoutBackend(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	r.Starter.Errors["one"] = swarm.ErrUnavailable
	warnings, err := r.Sweeper().Sweep(t.Context(), hosttest.TeamName)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Agent(t, "a"); a.Status != registry.AgentActive {
		t.Errorf("it is %s, warnings %q", a.Status, warnings)
	}
	// Without agents no plugin is asked.
	none := hosttest.New(t)
	if warnings, err := none.Sweeper().Sweep(t.Context(), ""); err != nil || len(warnings) > 0 || len(none.Leftovers(t)) > 0 {
		t.Errorf("without a registry: %q, %v", warnings, err)
	}
}
