package host

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/statedir"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/proc"
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
	at, ok, err := h.hookCaller()
	if !ok || err != nil {
		return "", err
	}
	last, err := hookstate.Read(at.run)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.Debug("what hooks said before is replaced", "error", err)
	}
	// An agent that this one started runs hooks, too.
	if last.Agent != at.agent && slices.Contains(at.above, last.Agent) {
		return "", nil
	}
	if id := filepath.Base(at.run); e.Takes && statedir.SameFile(at.run, h.dir.RunDir(id)) {
		news, err = h.TakeNews(ctx, id, registry.BroughtHook)
	} else {
		err = nil
	}
	if news != "" {
		e.State = hookstate.Working
	}
	return news, errors.Join(err, hookstate.Write(at.run, claimAfter(last, e, at, time.Now())))
}

// claimAfter returns the claim after an event.
func claimAfter(last hookstate.Claim, e HookEvent, at hookCaller, now time.Time) hookstate.Claim {
	c := hookstate.Claim{Client: e.Client, Session: e.Session, Main: at.main, Agent: at.agent, State: e.State, Question: e.Question, Since: now, At: now}
	if c.Session == "" {
		c.Session = last.Session
	}
	same := last.Main == at.main && last.Agent == at.agent
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

// hookCaller is where the hook runs that calls.
type hookCaller struct {
	// run is the run directory of the worker.
	run string
	// main is the worker's main process, and agent the process that runs the hook.
	main, agent proc.Identity
	// above are the processes above the agent, up to the main process.
	above []proc.Identity
}

// hookCaller finds the agent whose hook the calling process is. What has to be proven is
// the same as for an MCP server, see [Host.lineToMain]: a daemon may run hooks for
// agents in other workers.
func (h *Host) hookCaller() (hookCaller, bool, error) {
	self, err := proc.Self()
	if err != nil {
		return hookCaller{}, false, err
	}
	line, run := lineUp(self.PID)
	if run == "" || len(line) < 2 {
		return hookCaller{}, false, nil
	}
	if err := checkShared(); err != nil {
		return hookCaller{}, false, err
	}
	// Clients run hooks in a shell, which goes with the hook.
	at := 1
	for at < len(line)-1 && slices.Contains(shells, line[at].Name) {
		at++
	}
	if err := h.lineToMain(line[at-1:], run); err != nil {
		return hookCaller{}, false, err
	}
	c := hookCaller{run: run, main: line[len(line)-1].Identity, agent: line[at].Identity}
	for _, p := range line[at+1:] {
		c.above = append(c.above, p.Identity)
	}
	return c, true, nil
}

// shells are the names of shells that clients may run hooks in.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "zsh", "fish", "busybox"}

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
