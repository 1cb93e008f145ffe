package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// DefaultSignal is the first signal of a kill without a signal, for a worker without a
// terminal.
const DefaultSignal = "SIGTERM"

const (
	// acceptLimit is how long a shim may take to accept a kill over its socket, and
	// orderLimit over its run directory. Both include the time to wake it.
	acceptLimit = 5 * time.Second
	orderLimit  = 3 * time.Second
	// answerLimit is how long it may take beyond the grace to report the result of a kill.
	answerLimit = 10 * time.Second
	// leaveLimit is how long it may take to end after its worker.
	leaveLimit = 3 * time.Second
)

// Kill ends the worker and everything it started, see [swarm.Backend]. The shim does the
// work, and continues if the context ends, which only ends the wait.
//
// If the shim does not accept the kill over its socket, Kill leaves it in the run directory.
// If the shim does not take it there either, or never reports the result, or if the worker
// has lost its shim, the calling process ends the processes that are proven to be the
// worker's. So Kill returns at most 20 seconds after the grace.
func Kill(ctx context.Context, dir, id string, o swarm.KillOptions) (swarm.KillResult, error) {
	k, err := Ask(ctx, dir, id, o, false)
	if err != nil {
		return swarm.KillResult{}, err
	}
	defer k.Close()
	if o.Detach {
		return k.Detach(ctx)
	}
	return k.Result(ctx)
}

// PendingKill is a kill that is under way, made by [Ask].
type PendingKill struct {
	dir, id string
	opts    swarm.KillOptions
	request rundir.Request
	began   time.Time
	// call is nil if the shim can't be asked over its socket.
	call *call
	// shim is the status of a shim that is alive and can't be asked; ordered is when it
	// accepted the kill all the same, or zero.
	shim    *rundir.Status
	ordered time.Time
}

// Ask begins to kill the worker and returns once its shim has accepted the kill, or at once
// if there is no shim. It is for a backend that has work of its own in the meantime. The
// caller calls Result or Detach, and Close in any case.
//
// closing is for a backend that closes the worker's terminal next, and first saves its
// screen in [rundir.ScreenFile]: the first signal is sent after that. A backend that can't
// close the terminal calls [PendingKill.Continue].
func Ask(ctx context.Context, dir, id string, o swarm.KillOptions, closing bool) (*PendingKill, error) {
	r, err := killRequest(rundir.VerbKill, id, o)
	if err != nil {
		return nil, err
	}
	o.Signal = r.Signal
	k := &PendingKill{dir: dir, id: id, opts: o, request: r, began: time.Now()}
	r.Closing = closing
	k.call, err = k.accepted(ctx, r)
	if isSilence(ctx, err) {
		err = k.unanswered(ctx)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// isSilence reports whether a shim may exist in spite of the error of a request. The worker
// itself can have caused a refused connection.
func isSilence(ctx context.Context, err error) bool {
	return errors.Is(err, errNoAnswer) || errors.Is(err, swarm.ErrPermission) || errors.Is(err, swarm.ErrUnavailable) ||
		errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
}

// unanswered handles a shim that can't be reached over its socket: usually it has ended.
func (k *PendingKill) unanswered(ctx context.Context) error {
	st, err := readFacts(k.dir, k.id)
	if errors.Is(err, errNoFacts) || err == nil && st.State == rundir.StateEnded {
		return nil
	}
	if err != nil {
		return err
	}
	if there, err := isShim(k.dir, st); err != nil || !there {
		return err
	}
	k.shim = &st
	taken, err := k.order(ctx, st.Shim)
	if taken {
		k.ordered = time.Now()
	}
	return err
}

// accepted returns once the shim has accepted the kill.
func (k *PendingKill) accepted(ctx context.Context, r rundir.Request) (*call, error) {
	// A stopped shim accepts no clients from its queue.
	defer keepAwake(k.dir, k.id)()
	bounded, cancel := context.WithTimeout(ctx, acceptLimit)
	defer cancel()
	c, err := openCall(bounded, k.dir, r)
	if err != nil {
		return nil, err
	}
	if k.isImpostor(c) {
		c.close()
		return nil, errNoAnswer
	}
	if _, err := c.answer(bounded); err != nil {
		c.close()
		return nil, err
	}
	c.rebind(ctx)
	return c, nil
}

// isImpostor reports whether another process listens on the socket although the shim is
// alive.
func (k *PendingKill) isImpostor(c *call) bool {
	pid := peerPID(c.conn)
	st, err := readFacts(k.dir, k.id)
	if pid == 0 || err != nil || st.Shim.PID == pid {
		return false
	}
	there, err := isShim(k.dir, st)
	return err == nil && there
}

// killRequest returns a request that ends the worker.
func killRequest(verb, id string, o swarm.KillOptions) (rundir.Request, error) {
	signal, err := swarm.ParseSignal(cmp.Or(o.Signal, DefaultSignal))
	return rundir.Request{
		Verb:     verb,
		ID:       id,
		Signal:   signal,
		GraceMS:  o.Grace.Milliseconds(),
		Force:    o.Force,
		MainOnly: o.Mode == swarm.KillMain,
	}, err
}

// Continue reports to the shim, after an [Ask] with closing, that the terminal can't be closed: the
// shim sends the first signal at once.
func (k *PendingKill) Continue() {
	if k.call != nil {
		// Without this line the shim continues by itself, a little later.
		_, _ = k.call.conn.Write([]byte(rundir.Continue + "\n"))
	}
}

// Result waits for the outcome, for the context that Ask was given.
func (k *PendingKill) Result(ctx context.Context) (swarm.KillResult, error) {
	switch {
	case !k.ordered.IsZero():
		return k.carriedOut(ctx)
	case k.shim != nil:
		return k.byHand(ctx, *k.shim, true)
	case k.call == nil:
		return k.withoutShim(ctx)
	}
	defer keepAwake(k.dir, k.id)()
	bounded, cancel := context.WithDeadline(ctx, k.deadline())
	defer cancel()
	k.call.rebind(bounded)
	a, err := k.call.answer(bounded)
	switch {
	case isSilence(ctx, err):
		return k.silent(ctx)
	case err != nil:
		return swarm.KillResult{}, err
	}
	r := swarm.KillResult{Signal: a.Signal, Forced: a.Forced, AlreadyEnded: a.Already}
	r.Status, err = Status(k.dir, k.id)
	if err != nil || a.Kind == rundir.AnswerEnded {
		return r, err
	}
	r.Survivors = a.Survivors
	return r, survived(r.Survivors)
}

// Detach returns the present status; the kill continues without the caller.
func (k *PendingKill) Detach(ctx context.Context) (swarm.KillResult, error) {
	if k.call == nil && k.ordered.IsZero() {
		if k.shim != nil {
			return swarm.KillResult{}, fmt.Errorf("%w: %w", swarm.ErrUnavailable, errNoAnswer)
		}
		return k.withoutShim(ctx)
	}
	s, err := Status(k.dir, k.id)
	return swarm.KillResult{Status: s, Signal: k.opts.Signal}, err
}

// Close ends the conversation with the shim, not the kill.
func (k *PendingKill) Close() {
	if k.call != nil {
		k.call.close()
	}
}

// deadline is when the shim must have reported the result of the kill.
func (k *PendingKill) deadline() time.Time { return k.began.Add(max(k.opts.Grace, 0) + answerLimit) }

// ended is the result for a worker whose end is recorded. The end is due to this kill if
// the kill was in progress by then.
func (k *PendingKill) ended(st rundir.Status) swarm.KillResult {
	r := swarm.KillResult{Status: statusOf(st)}
	if k.call == nil && k.shim == nil || timeOf(st.EndedNS).Before(k.began) {
		r.AlreadyEnded = true
		return r
	}
	r.Signal, r.Forced = k.opts.Signal, st.Forced
	return r
}

// withoutShim returns the result for a worker whose shim has left: the worker has ended, or
// it is lost.
func (k *PendingKill) withoutShim(ctx context.Context) (swarm.KillResult, error) {
	st, err := readFacts(k.dir, k.id)
	if err != nil && !errors.Is(err, errNoFacts) {
		return swarm.KillResult{}, err
	}
	if st.State == rundir.StateEnded {
		return k.ended(st), nil
	}
	r, err := killOrphans(ctx, k.dir, st, k.id, k.opts)
	if err == nil && r.AlreadyEnded && !bootedSince(st) && listens(k.dir) {
		// It may be in another PID namespace, with its worker.
		return swarm.KillResult{}, fmt.Errorf("%w: %w", swarm.ErrUnavailable, errNoAnswer)
	}
	return r, err
}

func survived(ps []swarm.Process) error {
	if len(ps) == 0 {
		return swarm.ErrSurvivors
	}
	more := ""
	if len(ps) > 1 {
		more = fmt.Sprintf(" and %d more", len(ps)-1)
	}
	return fmt.Errorf("%w: %s (pid %d)%s", swarm.ErrSurvivors, ps[0].Name, ps[0].PID, more)
}

// Accepted reports whether a shim has accepted the kill.
func (k *PendingKill) Accepted() bool { return k.call != nil }
