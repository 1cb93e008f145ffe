package team

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

func TestRights(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "boss", "gone")
	// Another team is led from a worker, in which an agent of the first one lives.
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Create(ctx, tx, Caller{WorkerID: "w-a", Team: crewTeam, Agent: "agent-a"}, New{Name: "blue"}, now)
		if err != nil {
			return err
		}
		_, err = Release(ctx, tx, "agent-gone", Departure{Phase: registry.ShutdownForceKilled}, now)
		return err
	})
	const notLeader, notRed, notBlue = "Only the team leader can kill agents", "Not a member of team 'red'", "Not a member of team 'blue'"
	inA := Caller{WorkerID: "w-a", Team: crewTeam, Agent: "agent-a", Name: "a", Role: registry.RoleWorker}
	for what, c := range map[string]struct {
		caller          Caller
		team            string
		member          string
		notMember, lead string
	}{
		"a person":                    {person, "red", Leader, "", ""},
		"a person in the other team":  {person, "blue", Leader, "", ""},
		"an agent":                    {as("a"), "red", "agent-a", "", notLeader},
		"an agent of the role leader": {as("boss"), "red", "agent-boss", "", ""},
		"the same in the other team":  {as("boss"), "blue", "", notBlue, notLeader},
		"an agent that leads another": {inA, "red", "agent-a", "", notLeader},
		"the same in the other team ": {inA, "blue", Leader, "", ""},
		"someone else in that worker": {Caller{WorkerID: "w-a"}, "blue", Leader, "", ""},
		"a plain worker":              {Caller{WorkerID: "w"}, "red", "", notRed, notLeader},
		"no member":                   {Caller{}, "red", "", notRed, notLeader},
		"where another worker leads":  {Caller{}, "blue", "", notBlue, notLeader},
		"an agent that has ended":     {as("gone"), "red", "", notRed, notLeader},
		"an agent that never was":     {as("ghost"), "red", "", notRed, notLeader},
		"a person without a team":     {person, "green", "", "Team 'green' does not exist", "Team 'green' does not exist"},
		"an agent without a team":     {as("a"), "green", "", "Team 'green' does not exist", "Team 'green' does not exist"},
		"the empty name":              {person, "", "", "Team '' does not exist", "Team '' does not exist"},
	} {
		t.Run(what, func(t *testing.T) {
			q.change(func(ctx context.Context, tx *registry.Tx) error {
				member, err := Member(ctx, tx, c.caller, c.team)
				if member != c.member {
					t.Errorf("acts as %q, want %q", member, c.member)
				}
				refused(t, c.notMember, err)
				refused(t, c.lead, Lead(ctx, tx, c.caller, c.team, "kill agents"))
				mayEnd := c.lead
				if c.team != "red" && c.team != "blue" {
					mayEnd = "" // no agent leads its workers
				}
				refused(t, mayEnd, MayEnd(ctx, tx, c.caller, c.team))
				return nil
			})
		})
	}
}

// A released agent of the role leader leads no worker any more.
func TestRightsEnd(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "boss")
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		if err := Lead(ctx, tx, as("boss"), crewTeam, "x"); err != nil {
			t.Error(err)
		}
		_, err := Release(ctx, tx, "agent-boss", Departure{Phase: registry.ShutdownForceKilled}, now)
		refused(t, "Only the team leader can x", Lead(ctx, tx, as("boss"), crewTeam, "x"))
		return err
	})
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "boss", "gone")
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Release(ctx, tx, "agent-gone", Departure{Phase: registry.ShutdownConfirmed}, now)
		return err
	})
	a := Caller{WorkerID: "w-a", Team: crewTeam, Agent: "agent-a", Name: "a", Role: registry.RoleWorker}
	boss := Caller{WorkerID: "w-boss", Team: crewTeam, Agent: "agent-boss", Name: "boss", Role: registry.RoleLeader}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		for hash, want := range map[string]Caller{"t-a": a, "t-boss": boss, "t-gone": {}, "t-ghost": {}, "": {}, "t-a' OR 1=1 --": {}} {
			got, err := ByToken(ctx, tx, hash)
			if diff := cmp.Diff(want, got); diff != "" || errors.Is(err, ErrUnknownToken) != (want == Caller{}) {
				t.Errorf("token %q: %v (-want +got):\n%s", hash, err, diff)
			}
		}
		for id, want := range map[string]Caller{"w-a": a, "w-boss": boss, "w-gone": {WorkerID: "w-gone"}, "w": {WorkerID: "w"}} {
			got, err := ByWorker(ctx, tx, id)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("worker %q: %v (-want +got):\n%s", id, err, diff)
			}
		}
		if _, err := ByWorker(ctx, tx, ""); err == nil {
			t.Error("no worker at all is a member")
		}
		return nil
	})
}
