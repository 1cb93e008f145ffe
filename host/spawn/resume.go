package spawn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/swarm"
)

// sessionID is what a session id may look like: it is one argument, and no option.
var sessionID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// ResumeError says that an agent can't continue with its conversation.
type ResumeError struct {
	name, why string
	// Gone says that there is no such conversation, so that it can only start anew.
	Gone bool
	// ended says that the agent was started and has ended.
	ended bool
}

func (e *ResumeError) Error() string { return fmt.Sprintf("cannot resume '%s': %s", e.name, e.why) }

func (e *ResumeError) Hint() string {
	switch {
	case !e.Gone:
		return fmt.Sprintf("see 'swarm logs %[1]s'; 'swarm respawn %[1]s' starts it anew", e.name)
	case e.ended:
		return fmt.Sprintf("'swarm respawn %s' starts it anew", e.name)
	default:
		return fmt.Sprintf("'swarm respawn %s' starts it anew, and so does --%s; --session ID resumes another conversation", e.name, "resume=auto")
	}
}

// resumed returns the command with which the agent of a worker continues with a conversation,
// and its id. An empty session means the one that its hooks reported, or that its command names.
func (s *Spawner) resumed(rec registry.Record, session string) (command []string, id string, err error) {
	p := s.Display.ProfileOf(&rec)
	switch {
	case rec.Ralph:
		return nil, "", worker.Hinted(
			fmt.Sprintf("'%s' is a loop", rec.Name),
			fmt.Sprintf("'swarm ralph resume --continue %s' continues its agent's conversation", rec.Name),
		)
	case p == nil:
		return nil, "", worker.Hinted(
			fmt.Sprintf("cannot resume '%s': it has no profile that says how", rec.Name),
			"'swarm agent profiles' lists the profiles; 'swarm spawn --profile NAME' gives a worker one",
		)
	}
	if session == "" {
		session = s.session(&rec, p)
	}
	if session != "" && !sessionID().MatchString(session) {
		return nil, "", worker.Invalid("invalid session '%s': expected letters, digits and ._:-", session)
	}
	// Whether it can resume any conversation comes first.
	command, err = p.Resume(rec.Command, session)
	switch {
	case err != nil:
		return nil, "", worker.Hinted(
			fmt.Sprintf("cannot resume '%s': %v", rec.Name, err),
			fmt.Sprintf("'swarm respawn %s' starts it anew", rec.Name),
		)
	case session == "":
		return nil, "", &unknownSessionError{name: rec.Name, client: p.Name()}
	}
	return command, session, nil
}

// unknownSessionError says that nothing has reported the conversation of an agent.
type unknownSessionError struct{ name, client string }

func (e *unknownSessionError) Error() string {
	return fmt.Sprintf("cannot resume '%s': its conversation is not known", e.name)
}

func (e *unknownSessionError) Hint() string {
	return fmt.Sprintf("after 'swarm integrate %s' its hooks report it; else name it with --session ID, or start it anew with --resume=auto", e.client)
}

// session returns the id of the conversation that a worker's agent has, or had; empty: it
// is not known.
func (s *Spawner) session(rec *registry.Record, p *profile.Profile) string {
	if id := hookstate.Session(s.Dir.RunDir(rec.ID)); id != "" {
		return id
	}
	return p.SessionIn(rec.Command)
}

// resume has the agent start with its conversation, or anew if that is not known.
func (r *respawnRun) resume() error {
	command, session, err := r.resumed(r.old, r.req.Session)
	if _, unknown := errors.AsType[*unknownSessionError](err); unknown && r.req.Anew {
		r.notice(err.Error() + "; it starts anew")
		return nil
	}
	r.plan.resumed, r.plan.session = command, session
	return err
}

// findConversation looks for the conversation before anything is ended: an agent may never
// have been given a prompt, and then has none. A conversation that the caller names is not
// looked for, since its agent may know it by another name.
func (r *respawnRun) findConversation() error {
	rec := &r.plan.rec
	if r.plan.session == "" || r.req.Session != "" || !r.plan.owner.Local || rec.Sandbox != nil {
		return nil
	}
	p := r.Display.ProfileOf(rec)
	env := swarm.MergeEnv(append(r.workerHostEnv(rec), rec.Env...))
	keeps, known := p.Keeps(r.plan.session, func(name string) string { return environ.Get(env, name) })
	if keeps || !known {
		return nil
	}
	gone := &ResumeError{name: rec.Name, Gone: true, why: fmt.Sprintf(
		"%s has no conversation %s: it was never given a prompt, or was removed", p.Title(), r.plan.session)}
	if !r.req.Anew {
		return gone
	}
	r.notice(gone.Error() + "; it starts anew")
	r.plan.resumed, r.plan.session = nil, ""
	return nil
}

// resumeLimit is how long a resumed agent may take until it shows that it continues. On a busy
// machine, opencode needs ten seconds to find out that it has no such conversation.
const resumeLimit = 30 * time.Second

// followResumed waits until an agent that was started with its conversation shows something
// that its profile knows, or has run for a while. It is a [*ResumeError] if it ends instead.
func (s *Spawner) followResumed(ctx context.Context, r *respawnRun) error {
	rec := &r.plan.rec
	p := s.Display.ProfileOf(rec)
	limit := resumeLimit
	if rec.NoScreen || p.Headless(rec.Command) {
		limit = 5 * time.Second // it shows nothing until it ends
	}
	if r.req.Progress != nil {
		r.req.Progress("waiting for its agent to resume the conversation")
		defer r.req.Progress("")
	}
	err := s.Display.AwaitReady(ctx, rec.ID, display.ReadyRequest{Timeout: limit})
	_, asks := errors.AsType[*display.AsksError](err)
	ended := errors.Is(err, worker.ErrEnded)
	if !ended && (asks || errors.Is(err, display.ErrBroken) || !errors.Is(err, display.ErrNotReady)) {
		return ctx.Err() // it runs
	}
	peek, peekErr := s.Display.Peek(ctx, rec.ID, 0)
	if peekErr != nil {
		s.Logger.Debug("the screen of a resumed agent can't be read", "worker", rec.Name, "error", peekErr)
		return nil
	}
	if p.Lacks(r.plan.session, peek.Lines) {
		return &ResumeError{name: rec.Name, Gone: true, ended: true, why: fmt.Sprintf("%s has no conversation %s", p.Title(), r.plan.session)}
	}
	if e := peek.Worker.Exit; ended && e != nil && (e.Code != 0 || e.Signal != "") {
		return &ResumeError{name: rec.Name, why: "it has ended: " + lastLine(peek.Lines)}
	}
	return nil
}

func lastLine(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "it wrote nothing"
}
