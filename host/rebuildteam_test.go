package host

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A rebuild keeps what can be read of teams. Of what can't, it knows again who
// lives in a worker, so that no agent is taken for anybody else.
func TestRebuildTeams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(path string) error
		kept   bool
	}{
		"deleted":          {os.Remove, false},
		"workers unusable": {breakWorkers, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := crewRig(t)
			w := r.spawn(t, "a", "one", asAgent)
			r.spawn(t, "ended", "one", asAgent)
			r.kill(t, Selection{Names: []string{"ended"}}, KillRequest{})
			token := swarm.EnvToken + "=" + r.token(t, "a")
			before := []registry.Agent{r.agent(t, "a"), r.agent(t, "ended")}
			if err := r.store.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(r.opts.Dir, registry.File)
			if err := c.damage(path); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range []string{"-wal", "-shm"} {
				_ = os.Remove(path + suffix)
			}
			if got := problems(t, r, true); got != nil {
				t.Errorf("problems after the rebuild: %q", got)
			}
			after := []registry.Agent{r.agent(t, "a"), r.agent(t, "ended")}
			if c.kept {
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("agents (-want +got):\n%s", diff)
				}
			}
			if a, ended := after[0], after[1]; a.Status != team.Active || a.WorkerID != w.ID || a.Name != "a" || ended.Status != team.Terminated {
				t.Errorf("agents %+v", after)
			}
			caller, err := r.as(t, token).Caller(t.Context())
			if c.kept && (err != nil || caller.Agent != "agent-a") || !c.kept && !errors.Is(err, team.ErrUnknownToken) {
				t.Errorf("with its token: %+v, %v", caller, err)
			}
			in := r.inside(t, w)
			if caller, err = in.Caller(t.Context()); err != nil || caller.Agent != "agent-a" {
				t.Errorf("from inside: %+v, %v", caller, err)
			}
			_, err = in.Kill(t.Context(), Selection{Names: []string{"a"}}, KillRequest{})
			if !isRefused(err) {
				t.Errorf("it ends itself: %v", err)
			}
			// People lead it, and can end it.
			r.kill(t, Selection{Names: []string{"a"}}, KillRequest{})
			r.change(t, func(ctx context.Context, tx *registry.Tx) error {
				return team.Delete(ctx, tx, team.Caller{Person: true}, "crew")
			})
		})
	}
}

func TestDoctorOnTeams(t *testing.T) {
	t.Parallel()
	r := crewRig(t)
	r.spawn(t, "a", "one", asAgent)
	if got := problems(t, r, false); got != nil {
		t.Errorf("problems %q", got)
	}
	db, err := sql.Open("sqlite", filepath.Join(r.opts.Dir, registry.File))
	if err == nil {
		_, err = db.ExecContext(t.Context(), "UPDATE agents SET document = json_set(document, '$.rotations', 'many')")
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := problems(t, r, false); len(got) != 1 || !strings.Contains(got[0], "cannot read agent 'agent-a'") {
		t.Errorf("problems %q", got)
	}
	// It is in nobody's way.
	if err := r.Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
		return team.Delete(ctx, tx, team.Caller{Person: true}, "crew")
	}); err != nil {
		t.Error(err)
	}
	r.kill(t, Selection{Names: []string{"a"}}, KillRequest{})
}
