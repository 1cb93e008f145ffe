package display_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestLogs(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w1", "one")
	read := func() (string, error) {
		var b strings.Builder
		err := r.Display().Logs(t.Context(), "w1", swarm.OutputOptions{}, func(o swarm.Output) error {
			b.Write(o.Data)
			return nil
		})
		return b.String(), err
	}
	if text, err := read(); err != nil || text != "output of "+w.ID {
		t.Errorf("running: %q, %v", text, err)
	}
	r.MustKill(t, worker.Selection{All: true}, kill.Request{})
	if text, err := read(); err != nil || text != "output of "+w.ID {
		t.Errorf("stopped: %q, %v", text, err)
	}
	boom := errors.New("boom")
	if err := r.Display().Logs(t.Context(), "w1", swarm.OutputOptions{}, func(swarm.Output) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("an error of the reader: %v", err)
	}
	if err := r.Display().Logs(t.Context(), "ghost", swarm.OutputOptions{}, nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown worker: %v", err)
	}
}
