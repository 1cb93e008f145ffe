package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/host/worker"
)

func TestSelectionTakesNamesOnce(t *testing.T) {
	t.Parallel()
	a, _, _ := apptest.New()
	o := &Selection{}
	cmd := &cobra.Command{}
	o.AddTo(cmd, a)
	got, err := o.Of(cmd, []string{"b", "a", "b"})
	if diff := cmp.Diff(worker.Selection{Names: []string{"b", "a"}}, got); diff != "" || err != nil {
		t.Errorf("selection (-want +got), %v:\n%s", err, diff)
	}
}
