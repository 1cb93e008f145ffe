package registry

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAgentIsUnique(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	writeTeams(t, r)
	for what, c := range map[string]struct {
		agent Agent
		want  error
	}{
		"its id":               {Agent{ID: "agent-def456", Team: "blue", Name: "x"}, ErrExists},
		"its name":             {Agent{ID: "a", Team: "red", Name: "ann"}, ErrExists},
		"its token":            {Agent{ID: "b", Team: "blue", Name: "x", TokenHash: "ab"}, ErrExists},
		"name in another team": {Agent{ID: "c", Team: "blue", Name: "ann"}, nil},
		"no token":             {Agent{ID: "d", Team: "blue", Name: "y"}, nil},
	} {
		c.agent.Role, c.agent.Status = RoleWorker, AgentActive
		err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error { return tx.InsertAgent(ctx, &c.agent) })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
}

func TestAgentQuery(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	writeTeams(t, r)
	for what, c := range map[string]struct {
		query AgentQuery
		want  string
	}{
		"all":     {AgentQuery{}, "agent-abc123 agent-def456 agent-ghi789"},
		"team":    {AgentQuery{Team: "blue"}, ""},
		"live":    {AgentQuery{Team: "red", Live: true}, "agent-abc123 agent-ghi789"},
		"id":      {AgentQuery{ID: "agent-def456"}, "agent-def456"},
		"name":    {AgentQuery{Name: "bob", Live: true}, "agent-ghi789"},
		"worker":  {AgentQuery{WorkerID: "w1"}, "agent-abc123"},
		"token":   {AgentQuery{TokenHash: "ab"}, "agent-abc123"},
		"several": {AgentQuery{Team: "red", Name: "bob", WorkerID: "w1"}, ""},
	} {
		var ids []string
		err := r.View(t.Context(), func(ctx context.Context, tx *Tx) error {
			agents, _, err := tx.Agents(ctx, c.query)
			for _, a := range agents {
				ids = append(ids, a.ID)
			}
			return err
		})
		if got := strings.Join(ids, " "); err != nil || got != c.want {
			t.Errorf("%s: %q, want %q, %v", what, got, c.want, err)
		}
	}
}

func TestUnreadableAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	writeTeams(t, r)
	raw(t, dir, "UPDATE agents SET heartbeat_ns = 'soon' WHERE id = 'agent-abc123'")
	raw(t, dir, "PRAGMA ignore_check_constraints=1; UPDATE agents SET status = 'dancing' WHERE id = 'agent-ghi789'")
	raw(t, dir, "UPDATE teams SET server = '{' WHERE name = 'red'")
	err := r.View(t.Context(), func(ctx context.Context, tx *Tx) error {
		agents, warnings, err := tx.Agents(ctx, AgentQuery{Team: "red"})
		if len(agents) != 1 || agents[0].ID != "agent-def456" || len(warnings) != 2 ||
			!strings.Contains(warnings[0], "'agent-abc123'") || !strings.Contains(warnings[1], "'agent-ghi789'") {
			t.Errorf("agents %v, warnings %q", agents, warnings)
		}
		for _, id := range []string{"agent-abc123", "agent-ghi789"} {
			if _, err := tx.Agent(ctx, id); err == nil || errors.Is(err, ErrNotFound) {
				t.Errorf("agent %s: %v", id, err)
			}
		}
		teams, warnings, terr := tx.Teams(ctx)
		if len(teams) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "'red'") {
			t.Errorf("teams %v, warnings %q", teams, warnings)
		}
		return errors.Join(err, terr)
	})
	if err != nil {
		t.Error(err)
	}
}

// A heartbeat that is late does not make an agent older.
func TestBeatDoesNotGoBack(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	writeTeams(t, r)
	for _, ns := range []int64{9e18, 5} {
		change(t, r, func(ctx context.Context, tx *Tx) error { return tx.Beat(ctx, "agent-abc123", time.Unix(0, ns)) })
	}
	if got := readTeams(t, r).Agents[0].Heartbeat.UnixNano(); got != 9e18 {
		t.Errorf("heartbeat %d", got)
	}
}
