package client

import (
	"testing"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestDyingShim checks that a main process counts as perhaps alive while its shim is being killed: the shim
// has no environment any more, and is still its parent, below the tmux server that has started the shim.
func TestDyingShim(t *testing.T) {
	t.Parallel()
	process := func(pid, parent, session int) proc.Process {
		p := proc.Process{Parent: parent, Session: session}
		p.PID, p.Start = pid, uint64(pid)
		return p
	}
	server, shim, main := process(10, 1, 10), process(20, 10, 20), process(30, 20, 30)
	other, below := process(40, 10, 40), process(50, 40, 50)
	c := &census{
		all:   []proc.Process{server, shim, main, other, below},
		byPID: map[int]proc.Process{10: server, 20: shim, 30: main, 40: other, 50: below},
		// The other shim is alive, so it is a stranger.
		marks: map[int]marks{10: {stranger: true}, 20: {}, 30: {}, 40: {stranger: true}, 50: {}},
	}
	st := rundir.Status{ID: "w", Shim: shim.Identity, Main: main.Identity, Session: 30}
	if got := c.traced(st, nil); len(got) != 1 || got[0].PID != 30 {
		t.Errorf("traced %+v, want the main process", got)
	}
	// A status that names what belongs to another worker does not make that the worker's.
	st.Shim, st.Main, st.Session = other.Identity, below.Identity, 50
	if got := c.traced(st, nil); len(got) != 0 {
		t.Errorf("traced %+v below the shim of another worker", got)
	}
}
