// These tests stay here: Workers joins the records, the answers of backends and the states of agents.

package host_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestWorkers(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	if ws, _, err := r.Workers(t.Context(), worker.Selection{}); err != nil || len(ws) != 0 {
		t.Errorf("without a state directory: %v, %v", ws, err)
	}
	if names, err := store.Names(t.Context(), r.Dir()); err != nil || names != nil {
		t.Errorf("names without a state directory: %v, %v", names, err)
	}
	r.MustSpawn(t, "runs", "one")
	r.MustSpawn(t, "far", "two")
	r.MustSpawn(t, "ended", "one")
	r.MustSpawn(t, "lost", "one")
	r.One.End(t, "ended", swarm.Exit{Code: 3, Cause: swarm.CauseExited, Time: time.Unix(1700000000, 0)})
	r.One.Change(t, "lost", func(w *hosttest.Worker) { w.State = swarm.StateLost })
	r.Starter.Errors["two"] = fmt.Errorf("%w: no such cluster", swarm.ErrUnavailable)

	ws, warnings, err := r.Workers(t.Context(), worker.Selection{})
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	var got []string
	for _, w := range ws {
		got = append(got, w.Name+" "+string(w.Status)+" "+w.Reason)
	}
	want := []string{"runs running ", "far unknown no such cluster", "ended stopped ", "lost lost " + history.ReasonLost}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
	if ws[2].Exit == nil || ws[2].Exit.Code != 3 || ws[2].Ended.Unix() != 1700000000 || ws[2].PID != 0 {
		t.Errorf("ended: %+v", ws[2])
	}
	if names, err := store.Names(t.Context(), r.Dir()); err != nil || !slices.Equal(names, []string{"runs", "far", "ended", "lost"}) {
		t.Errorf("names %v, %v", names, err)
	}
	if _, _, err := r.Workers(t.Context(), worker.Selection{Names: []string{"run"}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a prefix of a name: %v", err)
	}
}
