package registry

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// allOfTeams is all that the tables of teams hold.
type allOfTeams struct {
	Teams     []Team
	Agents    []Agent
	Shutdowns []Shutdown
	Tasks     []Task
	Messages  []Message
}

// teamsOfFixture has something in every field, and in addition as little as can be.
func teamsOfFixture() allOfTeams {
	at := func(s int64) time.Time { return time.Unix(1700000000+s, s) }
	return allOfTeams{
		Teams: []Team{
			{Name: "blue", Created: at(1)},
			{
				Name: "red", Description: "ä\n'b'", LeaderWorker: "1m7z0xwyhn2yfekg", Created: at(2),
				Server: &Server{Command: []string{"serve", "{port}"}, Dir: "/d", WorkerID: "1m7z0xwyhn2yfekh", Port: 28000, Used: true},
			},
		},
		Agents: []Agent{
			{
				Seq: 1, ID: "agent-abc123", Team: "red", Name: "ann", Role: RoleReviewer, Model: "m", Color: "#FF6B6B",
				Session: "s", Pane: "%1", Dir: "/d", Prompt: "do\nit", Status: AgentShuttingDown, Before: AgentIdle, WorkerID: "w1", Worker: "red-ann",
				TokenHash: "ab", Created: at(3), Heartbeat: at(4), Lost: at(5), Terminated: at(6), ColorUsed: at(7), LastError: "why", Rotations: 3,
			},
			{Seq: 2, ID: "agent-def456", Team: "red", Name: "bob", Role: RoleWorker, Status: AgentTerminated, Created: at(8)},
			{Seq: 3, ID: "agent-ghi789", Team: "red", Name: "bob", Role: RoleLeader, Status: AgentActive, Created: at(9)},
		},
		Shutdowns: []Shutdown{
			{
				ID: 1, Team: "red", AgentID: "agent-abc123", Requester: "leader", Reason: "done", Phase: ShutdownForceKilled, Forced: true, Unclaimed: true, Answered: true,
				Requested: at(10), Responded: at(11), Completed: at(12), Response: "well", Reassigned: []string{"task-1", "task-2"},
			},
			{ID: 2, Team: "red", AgentID: "agent-abc123", Phase: ShutdownRequested, Requested: at(13)},
		},
		Tasks: []Task{
			{
				Team: "red", N: 1, Title: "t", Description: "d", Priority: PriorityHigh, Status: TaskInProgress, Owner: "agent-abc123",
				Created: at(14), Updated: at(15), Claimed: at(16), Completed: at(17), Warning: "w", Blocks: []int{2},
				Assignee: "agent-ghi789", Receipt: Receipt{How: DeliveredHook, Delivered: at(22), Quiet: true},
			},
			{Team: "red", N: 2, Title: "u", Priority: PriorityNormal, Status: TaskPending, Created: at(18), Needs: []int{1}},
		},
		Messages: []Message{
			{ID: 1, Team: "red", Sender: "agent-abc123", Recipient: "leader", Type: MessagePlain, Body: "hello ä", Time: at(19), Read: at(20), Receipt: Receipt{How: DeliveredNudge, Delivered: at(23), Quiet: true}},
			{ID: 2, Team: "red", Sender: "system", Recipient: "leader", Type: MessageSystem, Body: "x", Time: at(21)},
		},
	}
}

func writeTeams(t *testing.T, r *Registry) {
	t.Helper()
	all := teamsOfFixture()
	err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		var errs []error
		for i := range all.Teams {
			errs = append(errs, tx.InsertTeam(ctx, &all.Teams[i]))
		}
		for i := range all.Agents {
			errs = append(errs, tx.InsertAgent(ctx, &all.Agents[i]))
		}
		for i := range all.Shutdowns {
			errs = append(errs, tx.InsertShutdown(ctx, &all.Shutdowns[i]))
		}
		for i := range all.Tasks {
			errs = append(errs, tx.AddTask(ctx, &all.Tasks[i]))
		}
		for i := range all.Messages {
			errs = append(errs, tx.AddMessage(ctx, &all.Messages[i]))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readTeams reads all that there is of teams, also of such that have no row.
func readTeams(t *testing.T, r *Registry) allOfTeams {
	t.Helper()
	var all allOfTeams
	err := r.View(t.Context(), func(ctx context.Context, tx *Tx) (err error) {
		var warnings []string
		if all.Teams, warnings, err = tx.Teams(ctx); err != nil || warnings != nil {
			t.Error(warnings)
			return err
		}
		if all.Agents, warnings, err = tx.Agents(ctx, AgentQuery{}); err != nil || warnings != nil {
			t.Error(warnings)
			return err
		}
		for _, team := range all.Teams {
			shutdowns, err := tx.Shutdowns(ctx, team.Name)
			if err != nil {
				return err
			}
			all.Shutdowns = append(all.Shutdowns, shutdowns...)
			tasks, err := tx.Tasks(ctx, TaskQuery{Team: team.Name})
			if err != nil {
				return err
			}
			all.Tasks = append(all.Tasks, tasks...)
			inbox, _, err := tx.Messages(ctx, MessageQuery{Team: team.Name, Recipient: "leader", Limit: 1000, Bytes: 1 << 20})
			if err != nil {
				return err
			}
			all.Messages = append(all.Messages, inbox...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTeamsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	writeTeams(t, r)
	want := teamsOfFixture()
	if diff := cmp.Diff(want, readTeams(t, r)); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		for i := range want.Agents {
			want.Agents[i].Model, want.Agents[i].Rotations = "another", 9
			if err := tx.PutAgent(ctx, &want.Agents[i]); err != nil {
				return err
			}
		}
		want.Teams[0].LeaderWorker, want.Teams[1].Server = "w", nil
		want.Shutdowns[1].Phase, want.Shutdowns[1].Response = ShutdownRejected, "no"
		return errors.Join(tx.PutTeam(ctx, &want.Teams[0]), tx.PutTeam(ctx, &want.Teams[1]), tx.PutShutdown(ctx, &want.Shutdowns[1]))
	})
	if diff := cmp.Diff(want, readTeams(t, r)); err != nil || diff != "" {
		t.Errorf("after a change: %v (-want +got):\n%s", err, diff)
	}
	err = r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		last, err := tx.LastShutdown(ctx, "agent-abc123")
		if diff := cmp.Diff(want.Shutdowns[1], last); diff != "" {
			t.Errorf("the last shutdown (-want +got):\n%s", diff)
		}
		_, none := tx.LastShutdown(ctx, "agent-def456")
		if !errors.Is(none, ErrNotFound) {
			t.Errorf("no shutdown: %v", none)
		}
		return errors.Join(err, tx.DeleteTeam(ctx, "red"))
	})
	if diff := cmp.Diff(allOfTeams{Teams: want.Teams[:1]}, readTeams(t, r)); err != nil || diff != "" {
		t.Errorf("after the end of a team: %v (-want +got):\n%s", err, diff)
	}
}
