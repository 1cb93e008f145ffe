package notifier

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/team"
)

// HookEvent is the report of a hook of a coding agent.
type HookEvent struct {
	// Client names the agent's program.
	Client string
	// Session is the id of its conversation; empty: not known.
	Session string
	// State is a state of [hookstate.Claim]; empty: the hook reports none.
	State string
	// Question is what the agent asks, Tool the tool that it wants to use, and Command the
	// command or the tool's input; only with [hookstate.Blocked].
	Question, Tool, Command string
	// Reason is why the turn ended, or the background work that runs on; only with
	// [hookstate.Limited], [hookstate.Broken] and [hookstate.Background].
	Reason string
	// Ask is set if the hook waits for a decision about the question, see [Notifier.Decide].
	Ask *hookstate.Ask
	// Decided says that this question has got its decision.
	Decided bool
	// Repeats says that an earlier event may have reported the question in other words, which
	// then stay.
	Repeats bool
	// Begins and Ends say that a conversation begins or ends, and Recovers that an error with
	// which the last turn ended does not matter any more.
	Begins, Ends, Recovers bool
	// Takes says that the agent is given the answer, and then continues.
	Takes bool
}

// Hook records the report of an agent's hook for the worker that the agent runs in. If
// e.Takes is set, Hook returns the line about the waiting messages and tasks, as
// [Notifier.TakeNotice] does; the caller must show it. If the calling process is not the hook
// of a worker's own agent, Hook writes and returns nothing. It starts no plugin, and opens
// the registry only if e.Takes is set.
func (n *Notifier) Hook(ctx context.Context, e HookEvent) (line string, err error) {
	at, ok, err := n.Callers.Hook()
	if !ok || err != nil {
		return "", err
	}
	last, err := hookstate.Read(at.Run)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		n.Logger.Debug("what hooks said before is replaced", "error", err)
	}
	// An agent that this one started runs hooks, too.
	if last.Agent != at.Agent && slices.Contains(at.Above, last.Agent) {
		return "", nil
	}
	if id := filepath.Base(at.Run); e.Takes && statedir.SameFile(at.Run, n.Dir.RunDir(id)) {
		line, err = n.TakeNotice(ctx, id, registry.DeliveredHook)
	} else {
		err = nil
	}
	if line != "" {
		e.State = hookstate.Working
	}
	claim := claimAfter(last, e, at, time.Now())
	// Other tools of the same turn may continue while another hook waits, and the client may report
	// once more that it asks, or that nothing is typed.
	if (e.State == hookstate.Working || e.Repeats) && !e.Decided && last.Waits(at.Main) && last.Ask.Hook.PID != os.Getpid() {
		claim = last
	}
	err = errors.Join(err, hookstate.Write(at.Run, claim))
	if stops(last, claim) && slices.Contains(n.Notify, claim.State) {
		err = errors.Join(err, n.notify(ctx, at.Run, claim))
	}
	return line, err
}

// stops reports whether an agent that continued stops now, or asks something else than before.
func stops(last, now hookstate.Claim) bool {
	if last.Main != now.Main || last.Agent != now.Agent || last.State != now.State {
		return now.State != ""
	}
	return now.State == hookstate.Blocked && (last.Question != now.Question || last.Command != now.Command)
}

// notify reports to the leader of the agent's team that the agent has stopped, and wakes it.
func (n *Notifier) notify(ctx context.Context, run string, c hookstate.Claim) error {
	id := filepath.Base(run)
	if !statedir.SameFile(run, n.Dir.RunDir(id)) {
		return nil
	}
	notice := team.Notice{WorkerID: id, Stop: team.Stop(c.State), Question: c.Question, Command: c.Command, Reason: c.Reason}
	if c.Ask != nil {
		notice.Digest, notice.Choices = c.Ask.Digest, profile.ChoiceLines(display.DecisionChoices())
	}
	teamName, err := n.notifyLeader(ctx, &notice, func(ctx context.Context, tx *registry.Tx) (bool, error) {
		rec, err := tx.Get(ctx, id)
		notice.Worker = rec.Name
		return rec.Agent != "", err
	})
	if err == nil && teamName != "" {
		n.Wake(ctx, teamName)
	}
	return err
}

func claimAfter(last hookstate.Claim, e HookEvent, at caller.Hook, now time.Time) hookstate.Claim {
	c := hookstate.Claim{Client: e.Client, Session: cmp.Or(e.Session, last.Session), Main: at.Main, Agent: at.Agent, State: e.State, Since: now, At: now}
	c.Question, c.Tool, c.Command, c.Ask, c.Reason = e.Question, e.Tool, e.Command, e.Ask, e.Reason
	same := last.Main == at.Main && last.Agent == at.Agent
	switch {
	case e.Ends || e.Begins && !same:
		c.State = ""
	case same && (e.Begins || e.Recovers) && failed(last.State):
		c.State = hookstate.Idle
	case e.State == "", same && e.Repeats && e.State == hookstate.Idle && outlastsPrompt(last.State):
		// A conversation that is compacted continues, and an agent that says that it waits
		// for a prompt does so in other states, too.
		if same {
			last.Client, last.Session, last.At = c.Client, c.Session, c.At
			c = last
		}
	case same && e.State == last.State:
		c.Since = last.Since
		if e.Repeats && last.Question != "" {
			c.Question, c.Tool, c.Command, c.Partial = last.Question, last.Tool, last.Command, last.Partial
		}
	}
	return c
}

func failed(state string) bool { return state == hookstate.Limited || state == hookstate.Broken }

// outlastsPrompt reports whether an agent in a state may be at its prompt.
func outlastsPrompt(state string) bool { return state == hookstate.Background || failed(state) }

// TakeNotice returns one line about the waiting messages and tasks of a worker's agent and
// how to get them, and records that they were brought to it by how. It returns "" if
// everything was brought before, or if the worker belongs to no team. The agent of a
// worker is its agent, the leader of a team, or both.
//
// The line has counts and fixed words, and nothing that another member wrote. One of
// several concurrent callers gets it, and must show it: no other call returns it again.
//
// TakeNotice starts no plugin, and writes nothing if nothing is waiting.
func (n *Notifier) TakeNotice(ctx context.Context, workerID string, how registry.Delivery) (line string, err error) {
	var pending []team.Pending
	find := func(ctx context.Context, tx *registry.Tx) (err error) {
		pending, err = team.PendingOf(ctx, tx, workerID)
		return err
	}
	err = n.Store.View(ctx, find)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil || len(pending) == 0 {
		return "", err
	}
	err = n.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		if err := find(ctx, tx); err != nil {
			return err
		}
		return team.Deliver(ctx, tx, pending, how)
	})
	if err != nil {
		return "", err
	}
	return team.Line(pending), nil
}
