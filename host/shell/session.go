package shell

import (
	"github.com/swarmhost/swarm/shared/swarm"
)

// Session says whose shells are meant. The zero value is whoever calls: the worker
// that the call is made in, whose shells are those that were begun in it, or else a
// person, who sees all.
type Session struct {
	// ID is the session's name.
	ID string
	// Owner is the process at whose end the session's shells are killed; nil:
	// nobody.
	Owner *swarm.Owner
}

// ParseSession reads a session as a user names it. A number is a process, which
// owns the session. Anything else is 1 to 64 characters of [A-Za-z0-9._-], and a
// session without an owner.
func ParseSession(s string) (Session, error) {
	return Session{}, errNotYet
}
