package ralph

import (
	"crypto/rand"
	"fmt"
	"os"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
)

type conversation struct {
	// begun is the session that the agent was given; empty if it chose its own.
	begun string
	// taken reports whether the agent has the prompt, which begins the conversation.
	taken func() bool
}

// Resumes returns nil if a loop can continue with the conversation of its agent, else why
// not.
func Resumes(profiles *profile.Set, st *State) error {
	p := profileFor(profiles, st.Profile, st.Command)
	if p == nil {
		return fmt.Errorf("the agent of '%s' has no profile, so it is not known how its conversation is resumed", st.Name)
	}
	if _, err := p.Resume(st.Command, "session"); err != nil {
		return fmt.Errorf("the conversation of the agent of '%s' can't be resumed: %w", st.Name, err)
	}
	return nil
}

// talk turns the command of a loop into that of its next iteration, which continues the
// last conversation or begins one that can be continued.
func (l *loop) talk(st *State) ([]string, error) {
	l.conversation = conversation{taken: func() bool { return false }}
	if !st.Continue && !st.ContinueOnce {
		return st.Command, nil
	}
	p := profileFor(l.Profiles, st.Profile, st.Command)
	if p == nil {
		return st.Command, Resumes(l.Profiles, st)
	}
	if keeps, known := p.Keeps(st.Session, os.Getenv); known && !keeps {
		l.log(eventWarn, "iteration %d: %s has no conversation %s any more; a new one begins", st.Iteration, p.Title(), st.Session)
		st.Session = ""
	}
	if st.Session != "" {
		l.conversation.begun = st.Session
		return p.Resume(st.Command, st.Session)
	}
	id := newSession()
	if command := p.Begin(st.Command, id); command != nil {
		l.conversation.begun = id
		return command, nil
	}
	l.conversation.begun = p.SessionIn(st.Command)
	return st.Command, nil
}

// session returns the session of the agent of the present or last iteration: the one that
// its hooks reported, else the one that it was given, if its conversation has begun; empty
// if it is unknown.
func (l *loop) session(st *State) string {
	if l.RunDir != "" {
		if c, err := hookstate.Read(l.RunDir); err == nil && c.Session != "" && !c.At.Before(st.IterationStarted) {
			return c.Session
		}
	}
	if l.conversation.taken != nil && l.conversation.taken() {
		return l.conversation.begun
	}
	return ""
}

// noteSession records in the state which conversation the next iteration continues. It
// reports whether a loop that has to continue one can.
func (l *loop) noteSession(st *State) bool {
	if id := l.session(st); id != "" {
		st.Session = id
	}
	st.ContinueOnce = false
	return st.Session != "" || !st.Continue
}

func newSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// ContinueNext makes the next iteration of a loop continue a conversation; an empty session
// means the one in the state. If there is none, the error says so, with a hint.
func ContinueNext(st *State, session string) error {
	if session != "" {
		st.Session = session
	}
	if st.Session == "" {
		return &noSessionError{st.Name}
	}
	st.ContinueOnce = true
	return nil
}
