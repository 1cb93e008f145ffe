package app

import (
	"cmp"
	"testing"

	"github.com/swarmhost/swarm/host/caller"
)

func TestStateDir(t *testing.T) {
	t.Parallel()
	a := &App{}
	// The suite may itself run in a worker.
	home := cmp.Or(caller.Dir(), "/h/.swarm")
	for want, env := range map[string][]string{
		"/d": {"HOME=/h", "SWARM_DIR=/x", "SWARM_DIR=/d"},
		home: {"HOME=/h", "SWARM_DIR="},
	} {
		a.Env = env
		if got, err := a.StateDir(); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", env, got, err, want)
		}
	}
	a.Env = []string{"HOME=/h", "SWARM_DIR=here"}
	if got, err := a.StateDir(); err == nil {
		t.Errorf("%q: %q, want an error", a.Env, got)
	}
	a.Env = nil
	if got, err := a.StateDir(); err == nil && got != caller.Dir() {
		t.Errorf("without an environment it is %q, want an error", got)
	}
}
