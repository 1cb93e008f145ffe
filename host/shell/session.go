package shell

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Session selects shells by their owner. The zero value is the caller: the worker in which
// the call is made, whose shells were started in it, or else a person, who sees all.
type Session struct {
	// ID is the session's name.
	ID string
	// Owner is the process at whose end the session's shells are killed; it may be nil.
	Owner *swarm.Owner
}

const (
	// labelCharacters are those that a session's name is made of, maxLabel is how many
	// of them there may be.
	labelCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	maxLabel        = 64
)

// ParseSession reads a session as a user names it. A number is a process, which
// owns the session. Anything else is 1 to 64 characters of [A-Za-z0-9._-], and a
// session without an owner.
func ParseSession(s string) (Session, error) {
	if pid, err := strconv.Atoi(s); err == nil {
		return SessionOf(pid)
	}
	foreign := func(r rune) bool { return !strings.ContainsRune(labelCharacters, r) }
	if s == "" || len(s) > maxLabel || strings.ContainsFunc(s, foreign) {
		return Session{}, fmt.Errorf("invalid session %q: use the number of a process, or letters, digits, '.', '_' and '-', at most %d", s, maxLabel)
	}
	return Session{ID: s}, nil
}

// SessionOf returns the session of a process, which owns it.
func SessionOf(pid int) (Session, error) {
	owner, err := spawn.OwnerOf(pid)
	if err != nil {
		return Session{}, err
	}
	// A number that is used again is another session.
	return Session{ID: fmt.Sprintf("%d-%d", owner.PID, owner.Start), Owner: &owner}, nil
}

type scope struct {
	// session is the name of the session that owns the shells it starts.
	session string
	// all says that it sees those of all sessions.
	all bool
}

func (s Session) scope(ctx context.Context, h *host.Host) (scope, error) {
	if s.ID != "" {
		return scope{session: s.ID}, nil
	}
	caller, err := h.Callers().Caller(ctx)
	switch {
	case err != nil:
		return scope{}, err
	case caller.WorkerID == "":
		return scope{all: true}, nil
	default:
		// No session that a user can name has a colon.
		return scope{session: "worker:" + caller.WorkerID}, nil
	}
}

func (s scope) has(session string) bool { return s.all || s.session == session }
