//go:build nomad

package nomad_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/plugins/nomad/nomadtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/workertest"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// cluster is a server with a node of its own, and another node, on which the next workers run.
type cluster struct {
	t     *testing.T
	api   *api.Client
	first *nomadtest.Agent
	other *nomadtest.Agent
	nodes map[string]string // ids by name
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, first: nomadtest.Start(t, `name = "first"`), nodes: make(map[string]string)}
	c.other = c.first.Join(t, "other")
	var err error
	if c.api, err = c.first.Client(); err != nil {
		t.Fatal(err)
	}
	c.until("both nodes are ready", func() bool {
		nodes, _, err := c.api.Nodes().List(nil)
		for _, n := range nodes {
			if n.Status == "ready" {
				c.nodes[n.Name] = n.ID
			}
		}
		return err == nil && len(c.nodes) == 2
	})
	c.eligible("first", false)
	return c
}

func (c *cluster) until(what string, ok func() bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*workertest.Limit)
	defer cancel()
	for !ok() {
		if sleep.For(ctx, 50*time.Millisecond) != nil {
			c.t.Fatalf("not in time: %s", what)
		}
	}
}

// eligible says whether a node takes new workers.
func (c *cluster) eligible(node string, yes bool) {
	c.t.Helper()
	if _, err := c.api.Nodes().ToggleEligibility(c.nodes[node], yes, nil); err != nil {
		c.t.Fatal(err)
	}
}

// starts are the lines of a file, one for each start of a worker.
func starts(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// settled waits until Nomad has nothing more to do for a job, and returns its allocations.
func (c *cluster) settled(job string) (allocs []*api.AllocationListStub) {
	c.t.Helper()
	c.until("the job is settled", func() bool {
		var err error
		allocs, _, err = c.api.Jobs().Allocations(job, false, nil)
		for _, a := range allocs {
			if a.ClientStatus == api.AllocClientStatusRunning || a.ClientStatus == api.AllocClientStatusPending {
				return false
			}
		}
		return err == nil
	})
	return allocs
}

// TestDrain drains the node of a worker while another node has space. The worker ends, for the
// reason that is reported, and does not run a second time, also when the node is back.
func TestDrain(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	b := open(t, settings(c.first.Address))
	file := filepath.Join(t.TempDir(), "starts")
	h := workertest.Spawn(t, b, specOf("drained", "sh", "-c", `echo start >>"$0"; exec sleep 3600`, file))
	c.eligible("first", true)
	drain := &api.DrainSpec{Deadline: -1} // at once
	if _, err := c.api.Nodes().UpdateDrain(c.nodes["other"], drain, false, nil); err != nil {
		t.Fatal(err)
	}
	st := workertest.Ended(t, b, h)
	if st.Exit == nil || st.Exit.Cause != swarm.CauseEvicted || !strings.Contains(st.Exit.Reason, "node 'other' is drained") {
		t.Errorf("status %+v, exit %+v", st, st.Exit)
	}
	if _, err := c.api.Nodes().UpdateDrain(c.nodes["other"], nil, true, nil); err != nil {
		t.Fatal(err)
	}
	c.until("the job is stopped", func() bool {
		j, _, err := c.api.Jobs().Info("swarm-drained", nil)
		return err == nil && j.Stop != nil && *j.Stop && *j.Status == "dead"
	})
	for _, a := range c.settled("swarm-drained") {
		if a.NodeName != "other" || len(a.TaskStates) == 0 {
			t.Errorf("an allocation on the node %s: %+v", a.NodeName, a.TaskStates)
		}
	}
	if got := starts(t, file); len(got) != 1 {
		t.Errorf("it was started %d times", len(got))
	}
	again, err := b.Status(t.Context(), h)
	if err != nil || again.Exit == nil || again.Exit.Cause != swarm.CauseEvicted {
		t.Errorf("afterwards: %+v, %v", again, err)
	}
	workertest.Ended(t, b, workertest.Spawn(t, b, func() swarm.Spec {
		spec := specOf("drained", "true")
		spec.ID = "id-again"
		return spec
	}()))
}

// TestSecondAllocation has Nomad make a second allocation, as for a worker that could not be
// pinned to its node: any look stops it, and the worker is the first one.
func TestSecondAllocation(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	b := open(t, settings(c.first.Address))
	file := filepath.Join(t.TempDir(), "starts")
	h := workertest.Spawn(t, b, specOf("twice", "sh", "-c", `echo start >>"$0"; exec sleep 3600`, file))
	j, _, err := c.api.Jobs().Info("swarm-twice", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Constraints) != 1 {
		t.Errorf("it is not pinned to its node: %+v", j.Constraints)
	}
	j.Constraints = nil
	if _, _, err := c.api.Jobs().Register(j, nil); err != nil {
		t.Fatal(err)
	}
	c.eligible("first", true)
	if _, err := c.api.Nodes().UpdateDrain(c.nodes["other"], &api.DrainSpec{Deadline: -1}, false, nil); err != nil {
		t.Fatal(err)
	}
	c.until("Nomad has started it again", func() bool { return len(starts(t, file)) == 2 })
	if _, err := b.StatusBatch(t.Context(), []swarm.Handle{h}); err != nil {
		t.Fatal(err)
	}
	c.settled("swarm-twice")
	st := workertest.Ended(t, b, h)
	if st.Where.Name != "other" || st.Exit == nil || st.Exit.Cause != swarm.CauseEvicted {
		t.Errorf("status %+v, exit %+v", st, st.Exit)
	}
	if got := starts(t, file); len(got) != 2 {
		t.Errorf("it was started %d times", len(got))
	}
}

// TestKillOnNodeThatIsAway kills the agent of a node, and then a worker on it: that runs on, so
// the kill is an error that names the node until the node confirms the end.
func TestKillOnNodeThatIsAway(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	b := open(t, settings(c.first.Address))
	file := filepath.Join(t.TempDir(), "starts")
	script := `echo start >>"$0"; echo hello; while :; do date >"$0.alive"; sleep 0.1; done`
	noticed := workertest.Spawn(t, b, specOf("noticed", "sh", "-c", script, file))
	c.eligible("first", true)
	c.other.Kill()
	// Nomad has not noticed it yet.
	for _, o := range []swarm.KillOptions{
		{Signal: "SIGTERM", Grace: time.Second, Force: true},
		{Signal: "SIGINT", Grace: time.Second, Force: true},
	} {
		r, err := b.Kill(t.Context(), noticed, o)
		if !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), "node 'other'") || r.Status.State == swarm.StateExited {
			t.Errorf("kill %s: %+v, %v", o.Signal, r, err)
		}
	}
	if err := os.Remove(file + ".alive"); err != nil {
		t.Fatal(err)
	}
	c.until("the process still runs", func() bool { _, err := os.Stat(file + ".alive"); return err == nil })
	if st, err := b.Status(t.Context(), noticed); err != nil || st.State != swarm.StateUnknown || !strings.Contains(st.Reason, "node 'other'") {
		t.Errorf("status %+v, %v", st, err)
	}
	err := b.Output(t.Context(), noticed, swarm.OutputOptions{}, func(swarm.Output) error { return nil })
	if !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), "node 'other' is away") {
		t.Errorf("output: %v", err)
	}
	if err := c.other.Start(); err != nil {
		t.Fatal(err)
	}
	c.until("the node has confirmed the end", func() bool {
		r, err := b.Kill(t.Context(), noticed, swarm.KillOptions{Force: true})
		return err == nil && r.Status.State == swarm.StateExited
	})
	if err := os.Remove(file + ".alive"); err != nil {
		t.Fatal(err)
	}
	c.settled("swarm-noticed")
	if _, err := os.Stat(file + ".alive"); err == nil {
		t.Error("the process runs after its end was confirmed")
	}
	if got := starts(t, file); len(got) != 1 {
		t.Errorf("it was started %d times", len(got))
	}
}
