package host

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
)

// HookEvent is what a hook of a coding agent says.
type HookEvent struct {
	// Client names the agent's program.
	Client string
	// Session is the id of its conversation; empty: not told.
	Session string
	// State is one of those of [hookstate.Claim]; empty: the hook tells none.
	State string
	// Question is what the agent asks; only with [hookstate.Blocked].
	Question string
	// Repeats says that an earlier event may have told the question in other words, which
	// then stay.
	Repeats bool
	// Begins and Ends say that a conversation does.
	Begins, Ends bool
	// Takes says that the agent is given what the answer holds, and goes on then.
	Takes bool
}

// Hook notes down what a hook of an agent says, for the worker that the agent runs in. If
// the agent takes something, Hook returns the line about what waits for it, as
// [Host.TakeNews] does; the caller must show it. If the calling process is not the hook
// of a worker's own agent, nothing is written and returned. No plugin is started, and
// the registry is only opened for an agent that takes something.
func (h *Host) Hook(ctx context.Context, e HookEvent) (news string, err error) {
	at, ok, err := h.callers().Hook()
	if !ok || err != nil {
		return "", err
	}
	last, err := hookstate.Read(at.Run)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.Debug("what hooks said before is replaced", "error", err)
	}
	// An agent that this one started runs hooks, too.
	if last.Agent != at.Agent && slices.Contains(at.Above, last.Agent) {
		return "", nil
	}
	if id := filepath.Base(at.Run); e.Takes && statedir.SameFile(at.Run, h.dir.RunDir(id)) {
		news, err = h.TakeNews(ctx, id, registry.BroughtHook)
	} else {
		err = nil
	}
	if news != "" {
		e.State = hookstate.Working
	}
	return news, errors.Join(err, hookstate.Write(at.Run, claimAfter(last, e, at, time.Now())))
}

// claimAfter returns the claim after an event.
func claimAfter(last hookstate.Claim, e HookEvent, at caller.Hook, now time.Time) hookstate.Claim {
	c := hookstate.Claim{Client: e.Client, Session: e.Session, Main: at.Main, Agent: at.Agent, State: e.State, Question: e.Question, Since: now, At: now}
	if c.Session == "" {
		c.Session = last.Session
	}
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

// hookClaim returns what hooks say that a worker's agent does now; nil: nothing.
func (h *Host) hookClaim(id string) *hookstate.Claim {
	run := h.dir.RunDir(id)
	c, err := hookstate.Read(run)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.log.Debug("what hooks say can't be read", "error", err)
		}
		return nil
	}
	s, err := statedir.ReadStatus(run)
	if err != nil || !c.Holds(s.Main) {
		return nil
	}
	return &c
}

// settledFor is how long nothing may have changed on a screen that shows a prompt until
// it is believed although hooks say something else: no hook tells that a person
// interrupted a turn.
const settledFor = 1500 * time.Millisecond

// hear fills in what hooks say of a worker with a state, where the screen says nothing
// better: a dialog and signs of work are certain, a prompt is also there between two
// steps.
func (h *Host) hear(w *Worker, now time.Time) {
	s := w.State
	if s.Source == SourceProcess {
		return
	}
	c := h.hookClaim(w.ID)
	if c == nil {
		return
	}
	said, last := profile.State(c.State), c.At
	if written := h.dir.LastOutput(w.ID); written.After(last) {
		last = written
	}
	switch {
	case s.State == profile.Blocked, s.State == profile.Working && said != profile.Working:
		return
	case s.State == profile.Idle && said != profile.Idle && now.Sub(last) >= settledFor:
		return
	}
	s.State, s.Source, s.Since, s.Question, s.Choices = said, SourceHook, c.Since, c.Question, nil
}
