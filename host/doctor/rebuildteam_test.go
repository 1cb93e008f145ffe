package doctor_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
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
		"workers unusable": {hosttest.DamageWorkers, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := hosttest.NewWithTeam(t)
			w := r.MustSpawn(t, "a", "one", hosttest.AsAgent)
			r.MustSpawn(t, "ended", "one", hosttest.AsAgent)
			r.MustKill(t, worker.Selection{Names: []string{"ended"}}, kill.Request{})
			token := swarm.EnvToken + "=" + r.Token(t, "a")
			before := []registry.Agent{r.Agent(t, "a"), r.Agent(t, "ended")}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(r.Dir(), registry.File)
			if err := c.damage(path); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range []string{"-wal", "-shm"} {
				_ = os.Remove(path + suffix)
			}
			if got := hosttest.Problems(t, r, true); got != nil {
				t.Errorf("problems after the rebuild: %q", got)
			}
			after := []registry.Agent{r.Agent(t, "a"), r.Agent(t, "ended")}
			if c.kept {
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("agents (-want +got):\n%s", diff)
				}
			}
			if a, ended := after[0], after[1]; a.Status != registry.AgentActive || a.WorkerID != w.ID || a.Name != "a" || ended.Status != registry.AgentTerminated {
				t.Errorf("agents %+v", after)
			}
			caller, err := r.WithEnv(t, token).Callers().Caller(t.Context())
			if c.kept && (err != nil || caller.Agent != "agent-a") || !c.kept && !errors.Is(err, team.ErrUnknownToken) {
				t.Errorf("with its token: %+v, %v", caller, err)
			}
			in := r.Inside(t, w)
			if caller, err = in.Callers().Caller(t.Context()); err != nil || caller.Agent != "agent-a" {
				t.Errorf("from inside: %+v, %v", caller, err)
			}
			_, err = in.Kill().Kill(t.Context(), worker.Selection{Names: []string{"a"}}, kill.Request{})
			if !hosttest.IsNotLeader(err) {
				t.Errorf("it ends itself: %v", err)
			}
			// People lead it, and can end it.
			r.MustKill(t, worker.Selection{Names: []string{"a"}}, kill.Request{})
			r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
				return team.Delete(ctx, tx, team.Caller{Person: true}, hosttest.TeamName)
			})
		})
	}
}

func TestDoctorOnTeams(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	if got := hosttest.Problems(t, r, false); got != nil {
		t.Errorf("problems %q", got)
	}
	db, err := sql.Open("sqlite", filepath.Join(r.Dir(), registry.File))
	if err == nil {
		_, err = db.ExecContext(t.Context(), "UPDATE agents SET document = json_set(document, '$.rotations', 'many')")
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := hosttest.Problems(t, r, false); len(got) != 1 || !strings.Contains(got[0], "cannot read agent 'agent-a'") {
		t.Errorf("problems %q", got)
	}
	// It is in no other's way.
	if err := r.Store().Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
		return team.Delete(ctx, tx, team.Caller{Person: true}, hosttest.TeamName)
	}); err != nil {
		t.Error(err)
	}
	r.MustKill(t, worker.Selection{Names: []string{"a"}}, kill.Request{})
}
