package cgroup_test

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestRealGroup uses a group of this machine.
func TestRealGroup(t *testing.T) {
	t.Parallel()
	machinetest.ControlGroups(t)
	parent := cgroup.ParentName(t.TempDir())
	g, problems := cgroup.Look().Make(parent, "w1", swarm.Limits{Memory: 64 << 20, CPUs: 0.5, PIDs: 16})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	defer func() {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	}()
	sleep := exec.Command("sleep", "600")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = g.Freeze(false)
		_ = sleep.Process.Kill()
		_ = sleep.Wait()
	}()
	for _, name := range g.EntryFiles() {
		if err := os.WriteFile(name, []byte(strconv.Itoa(sleep.Process.Pid)), 0); err != nil {
			t.Fatal(err)
		}
	}
	opened := cgroup.Open(g.Dirs(), "w1")
	for _, g := range []*cgroup.Group{g, opened} {
		if pids, err := g.Members(); err != nil || !slices.Equal(pids, []int{sleep.Process.Pid}) {
			t.Errorf("members %v, %v", pids, err)
		}
		if n, ok := g.OOMKills(); n != 0 || !ok {
			t.Errorf("%d kills, %v", n, ok)
		}
		if err := g.Freeze(true); err != nil {
			t.Errorf("freeze: %v", err)
		}
		if err := g.Freeze(false); err != nil {
			t.Errorf("continue: %v", err)
		}
	}
	for _, l := range []swarm.Limits{{Memory: 32 << 20}, {Memory: 1 << 30, PIDs: 5}, {}, {CPUs: 2}} {
		if err := g.Set(l); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
