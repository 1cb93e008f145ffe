package kill_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestKillRecorded: who kills can do more in the change that records the end, once
// for each worker, also for one that had ended.
func TestKillRecorded(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	r.MustSpawn(t, "b", "one", hosttest.AsAgent)
	r.MustSpawn(t, "far", "two", hosttest.Ephemeral)
	r.One.End(t, "b", swarm.Exit{Cause: swarm.CauseExited})
	if _, err := r.Watch().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	var names []string
	r.MustKill(t, worker.Selection{All: true}, kill.Request{Recorded: func(ctx context.Context, tx *registry.Tx, rec registry.Record) error {
		names = append(names, rec.Name)
		if rec.Agent == "" {
			return nil
		}
		_, err := team.Release(ctx, tx, rec.Agent, team.Departure{Phase: registry.ShutdownConfirmed}, time.Now())
		return err
	}})
	slices.Sort(names)
	if diff := cmp.Diff([]string{"a", "b", "far"}, names); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"a", "b"} {
		if a := r.Agent(t, name); a.Status != registry.AgentTerminated || a.LastError != "" && name == "a" {
			t.Errorf("the agent is %+v", a)
		}
	}

	// A failure undoes the record of the end, which the next call writes.
	r.MustSpawn(t, "c", "one", hosttest.AsAgent)
	out := r.MustKill(t, worker.Selection{Names: []string{"c"}}, kill.Request{Recorded: func(context.Context, *registry.Tx, registry.Record) error {
		return errors.New("no")
	}})
	if out[0].Err != nil || len(out[0].Warnings) != 1 || r.Record(t, "c").State != registry.Running {
		t.Errorf("%+v", out)
	}
	if _, err := r.Sweeper().Sweep(t.Context(), hosttest.TeamName); err != nil {
		t.Fatal(err)
	}
	if a := r.Agent(t, "c"); a.Status != registry.AgentTerminated {
		t.Errorf("the agent is %+v", a)
	}
}
