package team

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

func TestRelease(t *testing.T) {
	t.Parallel()
	for _, status := range []registry.AgentStatus{registry.AgentSpawning, registry.AgentActive, registry.AgentIdle, registry.AgentInactive, registry.AgentShuttingDown} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			q := newSquad(t, "other", "a")
			mine, done, others := q.works("a"), q.works("a"), q.works("other")
			q.change(func(ctx context.Context, tx *registry.Tx) error {
				_, err := UpdateTask(ctx, tx, as("a"), crewTeam, done, TaskChange{Status: registry.TaskCompleted}, now)
				return err
			})
			if status == registry.AgentShuttingDown {
				if _, err := q.ask(as("other"), "a", ""); err == nil {
					t.Error("a worker agent asked another to end")
				}
				if _, err := q.ask(person, "a", "first"); err != nil {
					t.Fatal(err)
				}
			} else {
				q.put("a", func(a *registry.Agent) { a.Status = status })
			}
			want := q.agent("a")
			want.Status, want.Before, want.Terminated, want.TokenHash, want.LastError = registry.AgentTerminated, "", later, "", "Force killed: at once"
			got, err := q.release("a", Departure{Phase: registry.ShutdownForceKilled, Requester: "agent-boss", Reason: "at once"})
			if diff := cmp.Diff(Released{Agent: want, Reassigned: []string{mine}}, got); err != nil || diff != "" {
				t.Errorf("released: %v (-want +got):\n%s", err, diff)
			}
			if diff := cmp.Diff(want, q.agent("a")); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			wantShutdown := registry.Shutdown{
				ID: 1, Team: crewTeam, AgentID: "agent-a", Requester: "agent-boss", Reason: "at once", Phase: registry.ShutdownForceKilled, Forced: true,
				Requested: later, Completed: later, Reassigned: []string{mine},
			}
			if status == registry.AgentShuttingDown {
				wantShutdown.Requested = now
			}
			if diff := cmp.Diff(wantShutdown, q.shutdown("a")); diff != "" {
				t.Errorf("shutdown (-want +got):\n%s", diff)
			}
			if got := q.task(mine); got.Status != registry.TaskPending || got.Owner != "" || got.Warning != "Reassigned: previous owner agent-a terminated" {
				t.Errorf("its task: %+v", got)
			}
			if got := q.task(done); got.Status != registry.TaskCompleted || got.Owner != "agent-a" {
				t.Errorf("its completed task: %+v", got)
			}
			if got := q.task(others); got.Owner != "agent-other" {
				t.Errorf("another's task: %+v", got)
			}
			if got := q.inbox(Leader); got != nil {
				t.Errorf("the leader is notified of what it did: %v", got)
			}
			// Its colour and its name are free.
			q.change(func(ctx context.Context, tx *registry.Tx) error {
				a, _, err := Join(ctx, tx, Entry{Team: crewTeam, ID: "agent-new", Name: "a"}, "w-n", "red-a-2", "", now)
				if a.Color != want.Color {
					t.Errorf("the next has %s, want %s", a.Color, want.Color)
				}
				return err
			})
			_, err = q.release("a", Departure{Phase: registry.ShutdownForceKilled})
			refused(t, "Agent 'agent-a' is already terminated", err)
		})
	}
}

func TestReleaseWithoutAReason(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "b")
	if _, err := q.ask(person, "a", "asked"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "Force killed: asked", "b": "Force killed"} {
		r, err := q.release(name, Departure{Phase: registry.ShutdownForceKilled})
		if err != nil || r.Agent.LastError != want || r.Reassigned == nil || len(r.Reassigned) > 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if s := q.shutdown("a"); s.Requester != Leader || s.Reason != "asked" {
		t.Errorf("the request: %+v", s)
	}
	if _, err := q.release("ghost", Departure{Phase: registry.ShutdownForceKilled}); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("one that never was: %v", err)
	}
}

// TestClaim: the end of a killed worker that another call noticed is claimed once, by a call
// that forced it.
func TestClaim(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a", "b")
	task := q.works("a")
	claim := func(name string) (r Released, claimed bool) {
		q.change(func(ctx context.Context, tx *registry.Tx) (err error) {
			r, claimed, err = Claim(ctx, tx, "agent-"+name, Departure{Phase: registry.ShutdownForceKilled, Requester: Leader, Reason: "at once"})
			return err
		})
		return r, claimed
	}
	if _, claimed := claim("a"); claimed {
		t.Error("the end of one that lives is claimed")
	}
	for _, name := range []string{"a", "b"} {
		l := Departure{Phase: registry.ShutdownForceKilled}
		if name == "b" {
			l.Requester = Leader // it was forced by another call, which recorded it
		}
		if _, err := q.release(name, l); err != nil {
			t.Fatal(err)
		}
	}
	want := q.agent("a")
	want.LastError = "Force killed: at once"
	r, claimed := claim("a")
	if diff := cmp.Diff(Released{Agent: want, Reassigned: []string{task}}, r); !claimed || diff != "" {
		t.Errorf("claimed %v (-want +got):\n%s", claimed, diff)
	}
	if s := q.shutdown("a"); s.Requester != Leader || s.Reason != "at once" || s.Unclaimed {
		t.Errorf("the shutdown: %+v", s)
	}
	for _, name := range []string{"a", "b"} {
		if _, claimed := claim(name); claimed {
			t.Errorf("the end of %s is claimed twice", name)
		}
	}
}

// Tasks that can't be given back keep no agent alive.
func TestReleaseWhenTasksCannotBeGivenBack(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(ctx context.Context, tx *registry.Tx) ([]string, error){
		"released": func(ctx context.Context, tx *registry.Tx) ([]string, error) {
			r, err := Release(ctx, tx, "agent-a", Departure{Phase: registry.ShutdownForceKilled}, later)
			if len(r.Reassigned) != 0 {
				t.Errorf("reassigned %v", r.Reassigned)
			}
			return r.Warnings, err
		},
		"lost": func(ctx context.Context, tx *registry.Tx) ([]string, error) {
			return Lost(ctx, tx, "agent-a", "exit status 3", later)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			q := newSquad(t, "a")
			first, second := q.works("a"), q.works("a")
			q.spoil("CREATE TRIGGER no BEFORE UPDATE ON tasks WHEN NEW.n = 2 BEGIN SELECT RAISE(ABORT, 'the tasks are stuck'); END")
			q.change(func(ctx context.Context, tx *registry.Tx) error {
				warnings, err := end(ctx, tx)
				if len(warnings) != 1 || !strings.Contains(warnings[0], "cannot reassign the tasks of agent 'agent-a'") || !strings.Contains(warnings[0], "stuck") {
					t.Errorf("warnings %q", warnings)
				}
				return err
			})
			// All of them or none.
			for _, id := range []string{first, second} {
				if got := q.task(id); got.Status != registry.TaskInProgress || got.Owner != "agent-a" || got.Warning != "" {
					t.Errorf("task %+v", got)
				}
			}
			a := q.agent("a")
			if what == "released" && (a.Status != registry.AgentTerminated || a.TokenHash != "" || q.shutdown("a").Phase != registry.ShutdownForceKilled) {
				t.Errorf("agent %+v", a)
			}
			if what == "lost" && (a.Status != registry.AgentInactive || a.LastError != "exit status 3" || len(q.inbox(Leader)) != 1) {
				t.Errorf("agent %+v", a)
			}
		})
	}
}

// Of many that release one agent, in as many connections, one does.
func TestOneReleases(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	task := q.works("a")
	const callers = 8
	type result struct {
		r   Released
		err error
	}
	results := make(chan result, callers)
	for range callers {
		go func() {
			var out result
			reg, err := registry.Open(t.Context(), q.dir)
			if err == nil {
				err = reg.Change(t.Context(), func(ctx context.Context, tx *registry.Tx) (err error) {
					out.r, err = Release(ctx, tx, "agent-a", Departure{Phase: registry.ShutdownForceKilled}, later)
					return err
				})
				_ = reg.Close() // nothing depends on it
			}
			out.err = err
			results <- out
		}()
	}
	won := 0
	for range callers {
		out := <-results
		var over *TerminatedError
		switch {
		case out.err == nil && len(out.r.Reassigned) == 1 && out.r.Reassigned[0] == task:
			won++
		case !errors.As(out.err, &over):
			t.Errorf("%+v, %v", out.r, out.err)
		}
	}
	if won != 1 {
		t.Errorf("%d have released it", won)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		all, err := tx.Shutdowns(ctx, crewTeam)
		if len(all) != 1 {
			t.Errorf("shutdowns %+v", all)
		}
		return err
	})
}

// One that was gone when it was asked is confirmed without a word of its own.
func TestReleaseConfirmedWithoutARequest(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "a")
	if _, err := q.release("a", Departure{Phase: registry.ShutdownConfirmed, Requester: Leader, Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	want := registry.Shutdown{
		ID: 1, Team: crewTeam, AgentID: "agent-a", Requester: Leader, Reason: "r", Phase: registry.ShutdownConfirmed,
		Requested: later, Completed: later,
	}
	if diff := cmp.Diff(want, q.shutdown("a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a := q.agent("a"); a.LastError != "" || !a.Terminated.Equal(at(time.Minute)) {
		t.Errorf("%+v", a)
	}
	if got := q.inbox(Leader); got != nil {
		t.Errorf("notified: %v", got)
	}
}
