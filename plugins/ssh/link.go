package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// copyLimit is how long the programs may take to be copied.
	copyLimit = 5 * time.Minute
	// retryMin and retryMax are the pauses before a connection is tried again.
	retryMin = 200 * time.Millisecond
	retryMax = 10 * time.Second
)

// link is the way to one host. It holds at most one connection, which it makes when it is
// needed, and again when it broke.
type link struct {
	client   *sshClient
	programs programs
	silence  silence
	log      *slog.Logger
	life     context.Context //nolint:containedctx // of the plugin

	mu      sync.Mutex
	current *session
	attempt *attempt // under way

	// copied is the progress of the programs that are being copied.
	copied progress
}

// session is one connection to swarm-remote.
type session struct {
	backend *client.Backend
	// workspace makes worktrees over there.
	workspace *client.Workspace
	origin    remote.Origin // of workers that are started over it
	running   *remoteCommand
	close     func()
}

type attempt struct {
	done    chan struct{}
	session *session
	err     error
}

func (s *session) ended() bool {
	select {
	case <-s.running.ended:
		return true
	default:
		return false
	}
}

// get returns the connection, and makes it first if it has to. An attempt continues when its
// caller's time has run out: the next caller may still need it.
func (l *link) get(ctx context.Context) (*session, error) {
	l.mu.Lock()
	if s := l.current; s != nil && !s.ended() {
		l.mu.Unlock()
		return s, nil
	}
	a := l.attempt
	if a == nil {
		a = &attempt{done: make(chan struct{})}
		l.attempt = a
		old := l.current
		l.current = nil
		go l.connect(a, old)
	}
	l.mu.Unlock()
	select {
	case <-a.done:
		return a.session, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *link) drop(s *session) {
	l.mu.Lock()
	if l.current == s {
		l.current = nil
	}
	l.mu.Unlock()
	s.close()
}

func (l *link) connect(a *attempt, old *session) {
	if old != nil {
		old.close()
	}
	s, err := l.dialAgain(l.life)
	l.mu.Lock()
	defer l.mu.Unlock()
	a.session, a.err = s, err
	l.attempt, l.current = nil, s
	close(a.done)
}

func (l *link) awaitAttempt() *session {
	l.mu.Lock()
	a, s := l.attempt, l.current
	l.mu.Unlock()
	if a != nil {
		<-a.done
		s = a.session
	}
	return s
}

// dials is how often a connection is tried that breaks while it is made: a busy server
// closes some.
const dials = 3

// dialAgain is dial, as often as that may help.
func (l *link) dialAgain(ctx context.Context) (s *session, err error) {
	var pause time.Duration
	for range dials {
		s, err = l.dial(ctx)
		if !errors.Is(err, errPassing) {
			return s, err
		}
		if pause, err = wait(ctx, pause, err); err != nil {
			return nil, err
		}
	}
	return l.dial(ctx)
}

// dial connects, and copies the programs if they are not there.
func (l *link) dial(ctx context.Context) (*session, error) {
	set, err := l.programs()
	if err != nil {
		return nil, err
	}
	s, missing, err := l.serve(ctx, set.hash)
	if !missing {
		return s, err
	}
	l.log.Info("copying swarm-remote and swarm-shim", "host", l.client.host)
	if err := l.copy(ctx, set); err != nil {
		return nil, err
	}
	if s, missing, err = l.serve(ctx, set.hash); missing {
		err = fmt.Errorf("%w: %s can't run the programs that were copied to ~/%s: %w",
			swarm.ErrUnavailable, l.client.host, l.client.config.Directory, err)
	}
	return s, err
}

// runs is the command over there that runs swarm-remote with a command, from the home directory.
func (l *link) runs(hash, command string) string {
	return "exec " + l.client.config.Directory + "/bin/" + hash + "/" + remote.Program + " " + command
}

// serve starts swarm-remote over there. missing says that it can't be run.
func (l *link) serve(ctx context.Context, hash string) (_ *session, missing bool, err error) {
	r, err := l.client.start(ctx, l.runs(hash, "serve"))
	if err != nil {
		return nil, false, err
	}
	// ssh counts the time until it is connected; a login shell has as long again.
	limit := time.AfterFunc(2*l.client.timeout(), func() { _ = r.out.Close() })
	stop := context.AfterFunc(ctx, func() { _ = r.out.Close() })
	defer stop()
	got, origin, err := r.awaitHello()
	if !limit.Stop() && err != nil {
		r.end()
		return nil, false, fmt.Errorf("%w: %s did not answer within %s", swarm.ErrUnavailable, l.client.host, 2*l.client.timeout())
	}
	switch {
	case ctx.Err() != nil:
		r.end()
		return nil, false, ctx.Err()
	case err != nil && !errors.Is(err, io.EOF):
		r.end()
		return nil, false, fmt.Errorf("%w: can't reach %s: %w", swarm.ErrUnavailable, l.client.host, err)
	case err != nil:
		// Its own exit code says why, so it is not ended before it had the time to do so.
		r.await(ctx, l.client.timeout())
		r.end()
		return nil, meansMissing(r.exit()), l.failure(r)
	case got != hash:
		r.end()
		return nil, true, fmt.Errorf("%w: swarm-remote on %s is another one than its directory says", swarm.ErrUnavailable, l.client.host)
	}
	conn := remote.NewConn(r.out, r.in)
	opened, cancel := context.WithTimeout(ctx, l.client.timeout())
	defer cancel()
	c, end, err := client.ConnectConn(opened, conn)
	if err != nil {
		r.end()
		return nil, false, l.failure(r)
	}
	var once sync.Once
	s := &session{backend: c.Backend(), workspace: c.Workspace(), origin: origin, running: r}
	s.close = func() { once.Do(func() { end(); r.end() }) }
	if s.backend == nil || s.workspace == nil {
		s.close()
		return nil, false, fmt.Errorf("%w: what answers on %s is not swarm-remote", swarm.ErrUnavailable, l.client.host)
	}
	return s, false, nil
}

// meansMissing reports whether an exit code comes from a command that can't be run, from a swarm-remote
// that refuses to, or from another program in its place. ssh that swarm ended has none of these.
func meansMissing(exit int) bool {
	return slices.Contains([]int{0, 1, 2, 126, 127}, exit)
}

func (l *link) failure(r *remoteCommand) error {
	why := r.errors.line()
	if exit := r.exit(); exit >= 0 && exit != sshFailed {
		return fmt.Errorf("%w: swarm-remote can't be run on %s: %s",
			swarm.ErrUnavailable, l.client.host, cmp.Or(why, fmt.Sprintf("exit code %d", exit)))
	}
	err := fmt.Errorf("%w: can't reach %s: %s", swarm.ErrUnavailable, l.client.host, cmp.Or(why, "the connection broke"))
	signs := []string{"closed by", "Broken pipe", "reset by peer", "banner exchange"}
	if why == "" || slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(why, sign) }) {
		return kindError{err, errPassing}
	}
	return err
}

// The kinds of errors of a connection. Their texts are not part of any message.
var (
	// errPassing marks a connection that broke while it was made.
	errPassing = errors.New("the connection broke while it was made")
	// errNoConnection marks a call that was never made.
	errNoConnection = errors.New("no connection")
	// errBroken marks a call whose connection broke. It is unknown whether the call has had an effect.
	errBroken = errors.New("the connection broke")
)

// kindError is an error of a kind that its text does not name.
type kindError struct {
	error
	kind error
}

func (e kindError) Unwrap() []error { return []error{e.error, e.kind} }

// call calls f with a connection. Without one its error is [errNoConnection], and [errBroken] if the
// connection broke in the call.
func call[R any](ctx context.Context, l *link, f func(*session) (R, error)) (R, error) {
	var none R
	s, err := l.get(ctx)
	if err != nil {
		return none, kindError{err, errNoConnection}
	}
	r, err := f(s)
	if errors.Is(err, client.ErrPluginGone) {
		if ctx.Err() != nil {
			return none, ctx.Err()
		}
		l.drop(s)
		why := s.running.errors.line()
		if why != "" {
			why = " (" + why + ")"
		}
		err = fmt.Errorf("%w: the connection to %s broke%s", swarm.ErrUnavailable, l.client.host, why)
		return none, kindError{err, errBroken}
	}
	return r, err
}

// again is call for what may be repeated: over a new connection, as often as connections
// break. Once a call has begun, a host has a while to be reached again.
func again[R any](ctx context.Context, l *link, f func(*session) (R, error)) (R, error) {
	var pause time.Duration
	var first time.Time // of the breaks
	for {
		r, err := call(ctx, l, f)
		switch {
		case errors.Is(err, errBroken):
			if first = cmp.Or(first, time.Now()); time.Since(first) > againLimit {
				return r, err
			}
		case first.IsZero() || !errors.Is(err, errNoConnection) || time.Since(first) > againLimit:
			return r, err
		}
		if pause, err = wait(ctx, pause, err); err != nil {
			return r, err
		}
	}
}

// againLimit is for how long a host is tried again after a connection to it broke.
const againLimit = 15 * time.Second

// wait waits for the pause before the next attempt, and returns the one after it. When the
// context ends, the error is the last one.
func wait(ctx context.Context, pause time.Duration, last error) (time.Duration, error) {
	if pause == 0 {
		return retryMin, nil // the first attempt is made at once
	}
	if err := sleep.For(ctx, pause); err != nil {
		return 0, errors.Join(last, err)
	}
	return min(2*pause, retryMax), nil
}
