// These tests stay here: the details of a worker join its record, history, output and figures.

package host_test

import (
	"errors"
	"testing"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestDetails(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one")
	r.MustSpawn(t, "other", "one")
	r.One.End(t, "w", swarm.Exit{Cause: swarm.CauseExited, Code: 3})
	d, warnings, err := r.Details(t.Context(), "w", host.DetailsRequest{Events: 9, Lines: 9})
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	if d.Worker.Name != "w" || d.Worker.Status != worker.StatusStopped || d.RunDir != r.RunDir(d.Worker.ID) || d.Figures.Worker.ID != d.Worker.ID {
		t.Errorf("%+v", d)
	}
	if len(d.Events) == 0 || d.Events[0].Kind != history.Spawned {
		t.Errorf("events %+v", d.Events)
	}
	for _, e := range d.Events {
		if e.Worker != "w" {
			t.Errorf("an event of another worker: %+v", e)
		}
	}
	d, _, err = r.Details(t.Context(), "w", host.DetailsRequest{})
	if err != nil || d.Events != nil || d.Lines != nil {
		t.Errorf("without a past: %+v, %v", d, err)
	}
	if _, _, err := r.Details(t.Context(), "ghost", host.DetailsRequest{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown name: %v", err)
	}
}
