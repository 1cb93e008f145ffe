package team

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

// crewTeam is the team of a crew.
const crewTeam = "red"

var (
	now    = time.Unix(1700000000, 0)
	later  = now.Add(time.Minute)
	person = Caller{Person: true}
)

// crew makes a team with active agents of these names in a new state directory.
// The one named boss has the leader's role.
func crew(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
		if _, err := Create(ctx, tx, person, New{Name: crewTeam}, now); err != nil {
			return err
		}
		for _, name := range names {
			caller := as(name)
			err := tx.InsertAgent(ctx, &registry.Agent{
				ID: caller.Agent, Team: crewTeam, Name: name, Role: caller.Role, Status: registry.AgentActive, Created: now, Heartbeat: now,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return dir
}

// as is the caller that an agent of a crew is.
func as(name string) Caller {
	role := registry.RoleWorker
	if name == "boss" {
		role = registry.RoleLeader
	}
	return Caller{Team: crewTeam, Agent: "agent-" + name, Name: name, Role: role}
}

// with runs one change.
func with(t *testing.T, dir string, change func(context.Context, *registry.Tx) error) {
	t.Helper()
	reg, err := registry.Open(t.Context(), dir)
	if err == nil {
		err = reg.Change(t.Context(), change)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := reg.Close(); err != nil {
		t.Fatal(err)
	}
}

// addTasks adds a task for each of the lists, which are what it needs.
func addTasks(t *testing.T, dir string, needs ...[]string) {
	t.Helper()
	with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
		for _, ids := range needs {
			if _, err := CreateTask(ctx, tx, person, crewTeam, NewTask{Title: "t", Dependencies: ids}, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// refused checks the text of an error.
func refused(t *testing.T, want string, err error) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}
