package team

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

func TestLine(t *testing.T) {
	t.Parallel()
	red := registry.Membership{Team: "red", Member: "agent-a"}
	for want, pending := range map[string][]Pending{
		"": nil,
		"swarm: 1 new message for you. Use the tool read-messages, or run 'swarm inbox read'.": {
			{Membership: red, Unread: registry.Unread{Messages: 1}},
		},
		"swarm: 2 new tasks for you in team red. Use the tool task-list, or run 'swarm task ls --team red'.": {
			{Membership: red, Unread: registry.Unread{Tasks: 2}, Named: true},
		},
		"swarm: 2 new messages and 1 new task for you. Use the tools read-messages and task-list, or run 'swarm inbox read' and 'swarm task ls'." +
			" You are asked to shut down: answer with the tool respond-shutdown, or run 'swarm shutdown approve' or 'swarm shutdown reject REASON'.": {
			{Membership: red, Unread: registry.Unread{Messages: 2, Tasks: 1, Shutdown: true}},
		},
		"swarm: 1 new message for you. Use the tool read-messages, or run 'swarm inbox read'." +
			" swarm: 1 new message for you in team blue. Use the tool read-messages, or run 'swarm inbox read --team blue'.": {
			{Membership: red, Unread: registry.Unread{Messages: 1}},
			{Membership: registry.Membership{Team: "blue", Member: Leader}, Unread: registry.Unread{Messages: 1}, Named: true},
		},
	} {
		if got := Line(pending); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// The messages that wait in a worker are those for its agent and for the teams that it
// leads.
func TestWaitingInAWorker(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "ann", "boss")
	named := map[string]bool{}
	want := func(what, worker string, want ...string) {
		t.Helper()
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			pending, err := PendingOf(ctx, tx, worker)
			var got []string
			for _, n := range pending {
				got = append(got, n.Team+" "+n.Member)
				if n.Named != named[n.Team] {
					t.Errorf("%s: %s is named: %v", what, n.Team, n.Named)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
			return err
		})
	}
	send := func(team, to string) {
		t.Helper()
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			_, err := Send(ctx, tx, person, team, to, "secret words", now)
			return err
		})
	}
	lead := func(name string) {
		t.Helper()
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			return tx.InsertTeam(ctx, &registry.Team{Name: name, LeaderWorker: "w-ann", Created: now})
		})
	}
	want("nothing", "w-ann")
	send(crewTeam, "ann")
	send(crewTeam, "boss")
	want("a message", "w-ann", "red agent-ann")
	want("another worker", "w-else")
	want("no worker", "")
	named["blue"] = true
	lead("blue")
	send("blue", Leader)
	want("an agent that leads", "w-ann", "red agent-ann", "blue leader")
	q.put("ann", func(a *registry.Agent) { a.Status = registry.AgentTerminated })
	named["blue"] = false
	want("the leader of one team", "w-ann", "blue leader")
	named = map[string]bool{"blue": true, "green": true}
	lead("green")
	send("green", Leader)
	want("the leader of two teams", "w-ann", "blue leader", "green leader")
}
