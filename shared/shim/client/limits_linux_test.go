package client_test

import (
	"os"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestLostGroup has a worker with limits lose its shim while it is paused: the processes
// that carry no mark of it are proven by its group, and the group goes with them.
func TestLostGroup(t *testing.T) {
	t.Parallel()
	machinetest.ControlGroups(t)
	w := newWorker(t)
	l := w.launch("sh", "-c", `env -i setsid sleep 905 & echo ready; exec sleep 906`)
	l.Limits, l.Group = swarm.Limits{PIDs: 50}, cgroup.ParentName(w.dir)
	if err := w.start(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	w.firstLine()
	groups := w.facts().Groups
	if len(groups) == 0 || !strings.HasSuffix(groups[0], "/"+w.id) {
		t.Fatalf("groups %q", groups)
	}
	members := func() int {
		pids, _ := cgroup.Open(groups, w.id).Members()
		return len(pids)
	}
	eventually(t, "all are there", func() bool { return members() == 2 })
	if err := client.SetPaused(t.Context(), w.dir, w.id, true); err != nil {
		t.Fatal(err)
	}
	if s := w.status(); !s.Paused || s.State != swarm.StateRunning {
		t.Errorf("status %+v", s)
	}
	w.loseShim()
	if s := w.status(); len(s.Survivors) != 2 {
		t.Errorf("survivors %+v", s.Survivors)
	}
	if r := w.kill(gently); r.Status.State != swarm.StateLost || len(r.Survivors) > 0 {
		t.Errorf("result %+v", r)
	}
	for _, dir := range groups {
		if _, err := os.Lstat(dir); err == nil {
			t.Errorf("%s is left, with %d processes", dir, members())
		}
	}
}
