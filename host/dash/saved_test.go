package dash

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// kept is saved work.
type kept []swarm.SavedWork

func (k kept) List(context.Context, ...string) ([]swarm.SavedWork, []string, error) {
	return k, nil, nil
}

// TestSavedOf: the saved work of a worker comes with the command that brings it back. Its
// name is enough if there is one piece.
func TestSavedOf(t *testing.T) {
	t.Parallel()
	now := time.Unix(10000, 0)
	one := swarm.SavedWork{Ref: "refs/r/fix/1", Name: "fix", Title: "uncommitted\x1b[2J", Time: now.Add(-2 * time.Hour)}
	two := swarm.SavedWork{Ref: "refs/r/fix/2", Name: "fix", Title: "a branch"}
	other := swarm.SavedWork{Ref: "refs/r/other/1", Name: "other"}
	for name, c := range map[string]struct {
		all  kept
		want []string
	}{
		"none": {kept{other}, nil},
		"one":  {kept{one, other}, []string{`uncommitted\x1b[2J, 2h ago: swarm rescue restore fix`}},
		"two": {kept{one, two}, []string{
			"a branch: swarm rescue restore refs/r/fix/2", `uncommitted\x1b[2J, 2h ago: swarm rescue restore refs/r/fix/1`,
		}},
	} {
		f, err := SavedOf(t.Context(), c.all, "fix", now)
		if diff := cmp.Diff(c.want, f.Lines); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
