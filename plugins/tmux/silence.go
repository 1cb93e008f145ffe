package tmux

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// silenceLife is how long a server that did not answer is not asked again: one command of the
// host needs several answers, and would wait the whole limit for each.
const silenceLife = 3 * time.Second

// silences are the servers that did not answer a query in time, with the time of the query's
// end. The zero value has none. All methods may be called at the same time.
type silences struct {
	mu    sync.Mutex
	since map[string]time.Time // by the server's name
}

// note remembers whether a server answered.
func (s *silences) note(name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !errors.Is(err, errSilent) {
		delete(s.since, name)
		return
	}
	if s.since == nil {
		s.since = make(map[string]time.Time)
	}
	s.since[name] = time.Now()
}

// lately reports whether a server was silent a moment ago.
func (s *silences) lately(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.since[name]
	return ok && time.Since(at) < silenceLife
}

// ask runs commands that only look, within a limit of their own. It fails at once if the server
// was silent a moment ago.
func (s *silences) ask(ctx context.Context, srv server, commands ...[]string) (string, error) {
	if s.lately(srv.name()) {
		return "", silence(lookLimit)
	}
	ctx, cancel := limited(ctx, lookLimit)
	defer cancel()
	out, err := srv.run(ctx, commands...)
	s.note(srv.name(), err)
	return out, err
}

// name tells servers apart: by the path of the socket, or by the -L name before that is known.
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

var errSilent = errors.New("the tmux server did not answer")

// silence is the error of a server that did not answer within a limit.
func silence(limit time.Duration) error {
	return fmt.Errorf("%w: %w within %v", swarm.ErrUnavailable, errSilent, limit)
}

func limited(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, silence(limit))
}
