package tmux

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// answerLimit is how long a server may take to answer, except while it opens a window.
const answerLimit = 2 * time.Second

// silenceLife is how long a server that did not answer is not asked again.
const silenceLife = 3 * time.Second

// silences are the servers that have not answered all calls. The calls to one server share their
// limit: it counts from the moment since which the server has been silent, so that a command of
// the host that makes several calls, in turn or at the same time, waits for a server once. The
// zero value has none. All methods may be called at the same time.
type silences struct {
	mu     sync.Mutex
	silent map[string]*silent // by the server's name
}

// silent is a server that has not answered all calls.
type silent struct {
	// since is when the server last answered or, if later, when the first of the unanswered
	// calls began.
	since time.Time
	// running is how many calls are waiting.
	running int
	// givenUp is when a call was last given up; zero if none was since the last answer.
	givenUp time.Time
}

// hasExpired reports whether the silence is so long ago that it no longer shortens the limit of a call.
func (s *silent) hasExpired(now time.Time) bool {
	return s.running == 0 && now.Sub(s.givenUp) >= silenceLife
}

// begin adds a call, which has to end at the deadline. It adds none, and reports false, if the
// server has been silent for the whole limit.
func (s *silences) begin(name string, limit time.Duration) (deadline time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if v := s.silent[name]; v == nil || v.hasExpired(now) {
		if s.silent == nil {
			s.silent = make(map[string]*silent)
		}
		s.silent[name] = &silent{since: now}
	}
	v := s.silent[name]
	if deadline = v.since.Add(limit); !deadline.After(now) {
		return deadline, false
	}
	v.running++
	return deadline, true
}

// end removes a call that begin has added, with its error.
func (s *silences) end(ctx context.Context, name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.silent[name]
	v.running--
	switch {
	case errors.Is(err, errSilent):
		v.givenUp = time.Now()
	case ctx.Err() == nil:
		v.since, v.givenUp = time.Now(), time.Time{}
	}
	if v.running == 0 && v.givenUp.IsZero() {
		delete(s.silent, name)
	}
}

// lately reports whether a server was silent a moment ago.
func (s *silences) lately(srv server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.silent[srv.name()]
	return v != nil && !v.givenUp.IsZero() && !v.hasExpired(time.Now())
}

// isWaiting reports whether a call waits for the answer of a server.
func (s *silences) isWaiting(srv server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.silent[srv.name()]
	return v != nil && v.running > 0
}

// ask runs commands that a server answers soon, see run.
func (s *silences) ask(ctx context.Context, srv server, commands ...[]string) (string, error) {
	return s.run(ctx, srv, answerLimit, commands...)
}

// run runs commands. It fails with errSilent once the server has been silent for the limit, at
// once if it has been so already.
func (s *silences) run(ctx context.Context, srv server, limit time.Duration, commands ...[]string) (string, error) {
	deadline, ok := s.begin(srv.name(), limit)
	if !ok {
		return "", silence(srv, limit)
	}
	bounded, cancel := context.WithDeadlineCause(ctx, deadline, silence(srv, limit))
	defer cancel()
	out, err := srv.run(bounded, commands...)
	s.end(ctx, srv.name(), err)
	return out, err
}

// name distinguishes servers: by the path of the socket, or by the -L name before that is known.
func (s server) name() string {
	if s.socket != "" {
		return s.socket
	}
	return "-L " + s.label
}

// String names the server for people.
func (s server) String() string {
	if s.label == "" {
		return "the tmux server"
	}
	return "the tmux server '" + s.label + "'"
}

var errSilent = errors.New("did not answer")

// silence is the error of a server that did not answer within a limit.
func silence(srv server, limit time.Duration) error {
	return fmt.Errorf("%w: %s %w within %v", swarm.ErrUnavailable, srv, errSilent, limit)
}

// hangs adds to the error of a server that opens no window what a person can do.
func hangs(err error) error {
	return fmt.Errorf("%w: it is stopped or hangs; let it continue, or choose another one with --tmux-socket", err)
}
