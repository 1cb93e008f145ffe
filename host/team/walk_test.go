package team

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// follows says which status can follow which, without the ends.
var follows = map[registry.AgentStatus][]registry.AgentStatus{
	registry.AgentSpawning:     {registry.AgentActive, registry.AgentIdle, registry.AgentShuttingDown, registry.AgentInactive, registry.AgentTerminated},
	registry.AgentActive:       {registry.AgentIdle, registry.AgentInactive, registry.AgentShuttingDown, registry.AgentTerminated, registry.AgentSpawning},
	registry.AgentIdle:         {registry.AgentActive, registry.AgentInactive, registry.AgentShuttingDown, registry.AgentTerminated, registry.AgentSpawning},
	registry.AgentInactive:     {registry.AgentActive, registry.AgentIdle, registry.AgentShuttingDown, registry.AgentTerminated, registry.AgentSpawning},
	registry.AgentShuttingDown: {registry.AgentActive, registry.AgentIdle, registry.AgentTerminated, registry.AgentSpawning},
	registry.AgentTerminated:   {},
}

// walk is a team to which anything may happen, in any order.
type walk struct {
	squad
	rand *rand.Rand
	now  time.Time
	// agents is how many joined, incarnations how many workers there were.
	agents, incarnations int
	last                 map[string]registry.Agent
	// losses is how often an agent lost its process.
	losses int
}

func TestAnythingInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &walk{squad: newSquad(t), rand: rand.New(rand.NewPCG(seed, 1)), now: now, last: map[string]registry.Agent{}}
			var done []string
			for range 250 {
				done = append(done, w.step())
				if w.check(); t.Failed() {
					t.Fatalf("the last steps: %q", done[max(0, len(done)-12):])
				}
			}
		})
	}
}

// step does one thing, which may be refused, and says what.
func (w *walk) step() string {
	w.now = w.now.Add(time.Duration(w.rand.IntN(50)) * time.Second)
	id, did := "agent-x", ""
	if w.agents > 0 {
		// Mostly one of those that came last.
		id = fmt.Sprintf("agent-%d", max(0, w.agents-1-w.rand.IntN(14)))
	}
	err := w.try(func(ctx context.Context, tx *registry.Tx) (err error) {
		did, err = w.act(ctx, tx, id)
		return err
	})
	return fmt.Sprintf("%s %s: %v", did, id, err)
}

// act is one of the rules, with an agent that may not be there.
func (w *walk) act(ctx context.Context, tx *registry.Tx, id string) (did string, err error) {
	caller := Caller{Team: crewTeam, Agent: id, Role: registry.RoleWorker}
	who := []Caller{person, caller}[w.rand.IntN(2)]
	yes := w.rand.IntN(2) == 0
	status := []registry.AgentStatus{"", registry.AgentActive, registry.AgentIdle}[w.rand.IntN(3)]
	task := TaskID(1 + w.rand.IntN(12))
	worker := w.last[id].WorkerID
	switch w.rand.IntN(17) {
	case 0, 1:
		n := w.agents
		w.agents++
		w.incarnations++
		_, _, err = Join(ctx, tx, Entry{Team: crewTeam, ID: fmt.Sprintf("agent-%d", n), Name: fmt.Sprintf("n%d", w.rand.IntN(20))},
			fmt.Sprintf("w%d", w.incarnations), "w", fmt.Sprintf("t%d", w.incarnations), w.now)
		return "join", err
	case 2, 3:
		return "activate", Activate(ctx, tx, id, "%1", w.now)
	case 4:
		if w.last[id].Status != registry.AgentSpawning || w.last[id].Rotations > 0 {
			return "nothing", nil
		}
		return "unjoin", Unjoin(ctx, tx, id, w.now)
	case 5:
		w.incarnations++
		n := w.incarnations
		return "rejoin", Rejoin(ctx, tx, id, fmt.Sprintf("w%d", n), "w", fmt.Sprintf("t%d", n), w.now)
	case 6:
		if w.last[id].Status != registry.AgentSpawning || w.last[id].Rotations == 0 {
			return "nothing", nil
		}
		_, err = Abandon(ctx, tx, id, "old-"+worker, "w", "why", w.now)
		return "abandon", err
	case 7, 8:
		_, _, err = Ask(ctx, tx, who, crewTeam, id, "why", w.now)
		return "ask", err
	case 9:
		if _, _, err = Approve(ctx, tx, caller, crewTeam, yes, "", w.now); err == nil && yes {
			_, err = Release(ctx, tx, id, Departure{Phase: registry.ShutdownConfirmed}, w.now)
		}
		return "approve", err
	case 10:
		_, _, err = Reject(ctx, tx, caller, crewTeam, "no", w.now)
		return "reject", err
	case 11:
		if w.rand.IntN(3) > 0 {
			return "nothing", nil
		}
		_, err = Release(ctx, tx, id, Departure{Phase: registry.ShutdownForceKilled}, w.now)
		return "release", err
	case 12:
		_, err = Ended(ctx, tx, worker, End{Killed: w.rand.IntN(4) == 0}, w.now)
		return "end", err
	case 13, 14:
		signs := map[string]Signs{}
		for _, a := range w.last {
			signs[a.WorkerID] = Signs{Gone: w.rand.IntN(20) == 0, Output: w.now.Add(-time.Duration(w.rand.IntN(300)) * time.Second)}
		}
		_, err = Sweep(ctx, tx, crewTeam, signs, w.now)
		return "sweep", err
	case 15:
		_, err = Beat(ctx, tx, who, crewTeam, id, status, w.now)
		return "beat", err
	default:
		if _, err := CreateTask(ctx, tx, who, crewTeam, NewTask{Title: "t"}, w.now); err != nil {
			return "task", err
		}
		_, err = ClaimTask(ctx, tx, caller, crewTeam, task, w.now)
		return "claim", err
	}
}

// check looks at what holds whatever happened.
func (w *walk) check() {
	w.t.Helper()
	w.change(func(ctx context.Context, tx *registry.Tx) error {
		agents, warnings, err := tx.Agents(ctx, registry.AgentQuery{Team: crewTeam})
		tasks, terr := tx.Tasks(ctx, registry.TaskQuery{Team: crewTeam, Status: registry.TaskInProgress})
		shutdowns, serr := tx.Shutdowns(ctx, crewTeam)
		if err := errors.Join(err, terr, serr); err != nil || warnings != nil {
			w.t.Error(warnings)
			return err
		}
		names := map[string]bool{}
		byID := map[string]registry.Agent{}
		for _, a := range agents {
			w.checkAgent(&a, shutdowns)
			if a.Status != registry.AgentTerminated && names[a.Name] {
				w.t.Errorf("two agents are called %s", a.Name)
			}
			names[a.Name] = names[a.Name] || a.Status != registry.AgentTerminated
			byID[a.ID] = a
		}
		for _, task := range tasks {
			if a := byID[task.Owner]; task.Owner != Leader && (a.ID == "" || a.Status == registry.AgentTerminated || !a.Lost.IsZero()) {
				w.t.Errorf("%s is with %q, who is %+v", TaskID(task.N), task.Owner, a)
			}
		}
		w.last = byID
		return nil
	})
	notices := w.notices()
	if w.losses > len(notices) {
		w.t.Errorf("%d losses, and the leader was notified of %d: %q", w.losses, len(notices), notices)
	}
}

// checkAgent looks at one agent and what became of it since the last look.
func (w *walk) checkAgent(a *registry.Agent, shutdowns []registry.Shutdown) {
	w.t.Helper()
	before, known := w.last[a.ID]
	if known && before.Status != a.Status && !slices.Contains(follows[before.Status], a.Status) {
		w.t.Errorf("%s went from %s to %s", a.ID, before.Status, a.Status)
	}
	if known && before.Color != a.Color {
		w.t.Errorf("%s has another colour", a.ID)
	}
	if a.Lost.After(before.Lost) && a.Status != registry.AgentTerminated {
		w.losses++
	}
	over := a.Status == registry.AgentTerminated
	if over != !a.Terminated.IsZero() || over && a.TokenHash != "" {
		w.t.Errorf("%s is %s, terminated at %v, token %q", a.ID, a.Status, a.Terminated, a.TokenHash)
	}
	if !a.Lost.IsZero() && a.Status != registry.AgentInactive && a.Status != registry.AgentTerminated {
		w.t.Errorf("%s is %s without a process", a.ID, a.Status)
	}
	said := a.Status == registry.AgentSpawning && (a.Before == registry.AgentActive || a.Before == registry.AgentIdle)
	if !said && (a.Status == registry.AgentShuttingDown) != (a.Before != "") {
		w.t.Errorf("%s is %s and was %q", a.ID, a.Status, a.Before)
	}
	open, final := 0, 0
	for _, s := range shutdowns {
		if s.AgentID != a.ID {
			continue
		}
		switch s.Phase {
		case registry.ShutdownRequested, registry.ShutdownApproved:
			open++
		case registry.ShutdownConfirmed, registry.ShutdownForceKilled:
			final++
		case registry.ShutdownRejected:
		}
		if s.Completed.IsZero() != (s.Phase == registry.ShutdownRequested || s.Phase == registry.ShutdownApproved) || s.Forced != (s.Phase == registry.ShutdownForceKilled) {
			w.t.Errorf("shutdown %+v", s)
		}
	}
	if (open == 1) != (a.Status == registry.AgentShuttingDown) || open > 1 || (final == 1) != over || final > 1 {
		w.t.Errorf("%s is %s with %d open and %d final shutdowns", a.ID, a.Status, open, final)
	}
}
