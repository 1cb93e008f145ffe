package team

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 32)
	for name, ok := range map[string]bool{
		"a": true, "A-b_9": true, "0": true, long: true, long + "a": false, "": false, "-a": false, "_a": false,
		"a.b": false, "a b": false, "a/b": false, "../x": false, "ä": false, "a\n": false, "leader": true,
	} {
		err := CheckName(name)
		if (err == nil) != ok || err != nil && !errors.Is(err, ErrName) {
			t.Errorf("team %q: %v", name, err)
		}
	}
	for name, ok := range map[string]bool{
		"a": true, "A-b_9.x": true, long[1:]: true, long: false, "": false, "-a": false, "a b": false, "a/b": false, "ä": false,
		"leader": false, "all": false, "system": false, "Leader": true,
	} {
		err := CheckAgentName(name)
		if (err == nil) != ok || err != nil && !errors.Is(err, ErrName) {
			t.Errorf("agent %q: %v", name, err)
		}
	}
	refused(t, `Invalid team name "a b": Team name must be alphanumeric with hyphens/underscores`, CheckName("a b"))
}

func TestCreate(t *testing.T) {
	t.Parallel()
	q := newSquad(t)
	server := &registry.Server{Command: []string{"serve"}, Dir: "/d"}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		got, err := Create(ctx, tx, Caller{WorkerID: "w"}, New{Name: "blue", Description: "d", Server: server}, now)
		want := registry.Team{Name: "blue", Description: "d", LeaderWorker: "w", Server: server, Created: now}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("made (-want +got):\n%s", diff)
		}
		if err != nil {
			return err
		}
		got, err = Get(ctx, tx, "blue")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read (-want +got):\n%s", diff)
		}
		return err
	})
	for name, want := range map[string]string{
		"blue": "Team 'blue' already exists",
		"a b":  `Invalid team name "a b": Team name must be alphanumeric with hyphens/underscores`,
	} {
		refused(t, want, q.try(func(ctx context.Context, tx *registry.Tx) error {
			_, err := Create(ctx, tx, person, New{Name: name}, now)
			return err
		}))
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "b")
	q.works("a")
	remove := func(caller Caller) error {
		return q.try(func(ctx context.Context, tx *registry.Tx) error { return Delete(ctx, tx, caller, crewTeam) })
	}
	refused(t, "Only the team leader can delete the team", remove(as("a")))
	refused(t, "Team 'red' has 2 live agent(s): a, b", remove(person))
	for _, name := range []string{"a", "b"} {
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			_, err := Release(ctx, tx, "agent-"+name, Departure{Phase: registry.ShutdownForceKilled}, now)
			return err
		})
	}
	refused(t, "", remove(person))
	refused(t, "Team 'red' does not exist", remove(person))
	// A new team of the name has nothing of the old one.
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		if _, err := Create(ctx, tx, person, New{Name: crewTeam}, now); err != nil {
			return err
		}
		agents, _, err := tx.Agents(ctx, registry.AgentQuery{Team: crewTeam})
		tasks, terr := tx.Tasks(ctx, registry.TaskQuery{Team: crewTeam})
		shutdowns, serr := tx.Shutdowns(ctx, crewTeam)
		if len(agents) != 0 || len(tasks) != 0 || len(shutdowns) != 0 {
			t.Errorf("agents %v, tasks %v, shutdowns %v", agents, tasks, shutdowns)
		}
		return errors.Join(err, terr, serr)
	})
}

func TestMoved(t *testing.T) {
	t.Parallel()
	q := newSquad(t)
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		if _, err := Create(ctx, tx, Caller{WorkerID: "old"}, New{Name: "blue", Server: &registry.Server{WorkerID: "server"}}, now); err != nil {
			return err
		}
		if err := errors.Join(Moved(ctx, tx, "old", "new"), Moved(ctx, tx, "server", "another"), Moved(ctx, tx, "", "bad")); err != nil {
			return err
		}
		blue, err := Get(ctx, tx, "blue")
		red, rerr := Get(ctx, tx, crewTeam)
		if blue.LeaderWorker != "new" || blue.Server.WorkerID != "another" || red.LeaderWorker != "" {
			t.Errorf("blue is led from %q, red from %q", blue.LeaderWorker, red.LeaderWorker)
		}
		refused(t, "Not a member of team 'blue'", func() error { _, err := Member(ctx, tx, Caller{WorkerID: "old"}, "blue"); return err }())
		refused(t, "", Lead(ctx, tx, Caller{WorkerID: "new"}, "blue", "x"))
		return errors.Join(err, rerr)
	})
}
