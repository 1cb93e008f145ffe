package courier

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/team"
)

// HookEvent is the report of a hook of a coding agent.
type HookEvent struct {
	// Client names the agent's program.
	Client string
	// Session is the id of its conversation; empty: not told.
	Session string
	// State is a state of [hookstate.Claim]; empty: the hook reports none.
	State string
	// Question is what the agent asks; only with [hookstate.Blocked].
	Question string
	// Repeats says that an earlier event may have told the question in other words, which
	// then stay.
	Repeats bool
	// Begins and Ends say that a conversation begins or ends.
	Begins, Ends bool
	// Takes says that the agent is given the answer, and then continues.
	Takes bool
}

// Hook records the report of an agent's hook for the worker that the agent runs in. If
// e.Takes is set, Hook returns the line about the waiting messages and tasks, as
// [Office.TakeNews] does; the caller must show it. If the calling process is not the hook
// of a worker's own agent, Hook writes and returns nothing. It starts no plugin, and opens
// the registry only if e.Takes is set.
func (o *Office) Hook(ctx context.Context, e HookEvent) (news string, err error) {
	at, ok, err := o.opts.Callers.Hook()
	if !ok || err != nil {
		return "", err
	}
	last, err := hookstate.Read(at.Run)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.opts.Logger.Debug("what hooks said before is replaced", "error", err)
	}
	// An agent that this one started runs hooks, too.
	if last.Agent != at.Agent && slices.Contains(at.Above, last.Agent) {
		return "", nil
	}
	if id := filepath.Base(at.Run); e.Takes && statedir.SameFile(at.Run, o.opts.Dir.RunDir(id)) {
		news, err = o.TakeNews(ctx, id, registry.BroughtHook)
	} else {
		err = nil
	}
	if news != "" {
		e.State = hookstate.Working
	}
	return news, errors.Join(err, hookstate.Write(at.Run, claimAfter(last, e, at, time.Now())))
}

func claimAfter(last hookstate.Claim, e HookEvent, at caller.Hook, now time.Time) hookstate.Claim {
	c := hookstate.Claim{Client: e.Client, Session: cmp.Or(e.Session, last.Session), Main: at.Main, Agent: at.Agent, State: e.State, Question: e.Question, Since: now, At: now}
	same := last.Main == at.Main && last.Agent == at.Agent
	switch {
	case e.Ends || e.Begins && !same:
		c.State = ""
	case e.State == "":
		// A conversation that is compacted goes on.
		if same {
			c.State, c.Question, c.Since = last.State, last.Question, last.Since
		}
	case same && e.State == last.State:
		c.Since = last.Since
		if e.Repeats && last.Question != "" {
			c.Question = last.Question
		}
	}
	return c
}

// TakeNews returns one line about the waiting messages and tasks of a worker's agent and
// how to get them, and records that they were brought to it by how. It returns "" if
// everything was brought before, or if the worker belongs to no team. The agent of a
// worker is its agent, the leader of a team, or both.
//
// The line has counts and fixed words, and nothing that another member wrote. Of several
// concurrent callers one gets it, and must show it: no other call returns it again.
//
// TakeNews starts no plugin, and writes nothing if nothing is waiting.
func (o *Office) TakeNews(ctx context.Context, workerID string, how registry.Brought) (line string, err error) {
	var news []team.News
	find := func(ctx context.Context, tx *registry.Tx) (err error) {
		news, err = team.Waiting(ctx, tx, workerID)
		return err
	}
	err = o.opts.View(ctx, find)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil || len(news) == 0 {
		return "", err
	}
	err = o.opts.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		if err := find(ctx, tx); err != nil {
			return err
		}
		return team.Bring(ctx, tx, news, how)
	})
	if err != nil {
		return "", err
	}
	return team.Line(news), nil
}
