package shim

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/swarmhost/swarm/shared/shim/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// DefaultSignal is the gentle way to end a worker that has no terminal.
const DefaultSignal = "SIGTERM"

// Kill ends the worker and everything it started, see [swarm.Backend]. The shim
// does it, and goes on if the context ends, which only ends the wait. The
// processes of a worker that lost its shim are ended from here.
func Kill(ctx context.Context, dir, id string, o swarm.KillOptions) (swarm.KillResult, error) {
	k, err := Ask(ctx, dir, id, o)
	if err != nil {
		return swarm.KillResult{}, err
	}
	defer k.Close()
	if o.Detach {
		return k.Detach(ctx)
	}
	return k.Result(ctx)
}

// Killing is a kill that is under way, made by [Ask].
type Killing struct {
	dir, id string
	opts    swarm.KillOptions
	// call is nil if there is no shim to ask, and ordered says that it was told to
	// leave instead.
	call    *call
	ordered bool
}

// Ask begins to kill the worker and returns once its shim will carry that
// through, or at once if there is no shim. It is for a backend that has something
// to do itself in the meantime. The caller asks for the Result or for Detach, and
// calls Close in any case.
func Ask(ctx context.Context, dir, id string, o swarm.KillOptions) (*Killing, error) {
	return begin(ctx, dir, id, o, false)
}

// AskClosing is [Ask] for a backend that closes the worker's terminal next, and
// keeps what it shows until then in [rundir.ScreenFile]: the first signal is sent
// when that has happened. One that can't close it calls Close, and then [Ask].
func AskClosing(ctx context.Context, dir, id string, o swarm.KillOptions) (*Killing, error) {
	return begin(ctx, dir, id, o, true)
}

func begin(ctx context.Context, dir, id string, o swarm.KillOptions, closing bool) (*Killing, error) {
	if o.Signal == "" {
		o.Signal = DefaultSignal
	}
	signal, err := swarm.ParseSignal(o.Signal)
	if err != nil {
		return nil, err
	}
	o.Signal = signal
	k := &Killing{dir: dir, id: id, opts: o}
	k.call, err = accepted(ctx, dir, id, o, closing)
	if closing && errors.Is(err, swarm.ErrInvalidSpec) {
		// An older shim, which takes no last screen.
		k.call, err = accepted(ctx, dir, id, o, false)
	}
	if errors.Is(err, errNoAnswer) {
		err = k.unanswered(ctx)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// unanswered deals with a shim that nobody reaches: most often there is none.
func (k *Killing) unanswered(ctx context.Context) error {
	st, err := readFacts(k.dir, k.id)
	switch {
	case errors.Is(err, errNoFacts):
		return nil
	case err != nil:
		return err
	case st.State == rundir.StateEnded || !st.Shim.Alive():
		return nil
	}
	return k.leave(ctx, st)
}

// accepted returns once the shim has taken the kill on.
func accepted(ctx context.Context, dir, id string, o swarm.KillOptions, closing bool) (*call, error) {
	// A shim that is stopped takes nobody out of its queue.
	defer keepAwake(dir, id)()
	c, err := ask(ctx, dir, rundir.Request{
		Verb:     rundir.VerbKill,
		ID:       id,
		Signal:   o.Signal,
		GraceMS:  o.Grace.Milliseconds(),
		Force:    o.Force,
		MainOnly: o.Mode == swarm.KillMain,
		Closing:  closing,
	})
	if err != nil {
		return nil, err
	}
	if _, err := c.answer(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// leave deals with a shim that is alive and does not listen. It is about to
// leave; or its socket was removed, and then an order from the system is the only
// one that it takes, which ends the worker by the worker's own policy.
func (k *Killing) leave(ctx context.Context, st rundir.Status) error {
	_ = st.Shim.Signal(syscall.SIGCONT)
	if k.opts.Force {
		k.ordered = st.Shim.Signal(syscall.SIGTERM) == nil
	}
	return proc.AwaitEnd(ctx, st.Shim)
}

// Result waits for the outcome, for the context that Ask was given.
func (k *Killing) Result(ctx context.Context) (swarm.KillResult, error) {
	if k.call == nil {
		return k.withoutShim(ctx)
	}
	defer keepAwake(k.dir, k.id)()
	a, err := k.call.answer(ctx)
	if errors.Is(err, errNoAnswer) {
		return k.withoutShim(ctx)
	}
	if err != nil {
		return swarm.KillResult{}, err
	}
	r := swarm.KillResult{Signal: a.Signal, Forced: a.Forced, AlreadyEnded: a.Already}
	r.Status, err = Status(k.dir, k.id)
	if err != nil || a.Kind == rundir.AnswerEnded {
		return r, err
	}
	for _, s := range a.Survivors {
		r.Survivors = append(r.Survivors, swarm.Process{PID: s.PID, Name: s.Name})
	}
	return r, survived(r.Survivors)
}

// Detach returns what is known now; the kill goes on without the caller.
func (k *Killing) Detach(ctx context.Context) (swarm.KillResult, error) {
	if k.call == nil {
		return k.withoutShim(ctx)
	}
	s, err := Status(k.dir, k.id)
	return swarm.KillResult{Status: s, Signal: k.opts.Signal}, err
}

// Close ends the conversation with the shim, not the kill.
func (k *Killing) Close() {
	if k.call != nil {
		k.call.close()
	}
}

// withoutShim is for a worker whose shim has left: it ended, or it is lost.
func (k *Killing) withoutShim(ctx context.Context) (swarm.KillResult, error) {
	st, err := readFacts(k.dir, k.id)
	if err != nil && !errors.Is(err, errNoFacts) {
		return swarm.KillResult{}, err
	}
	if st.State == rundir.StateEnded {
		return swarm.KillResult{Status: endedOf(st), AlreadyEnded: !k.ordered, Forced: k.ordered && st.Forced}, nil
	}
	return killOrphans(ctx, st, k.id, k.opts)
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

// Accepted says that a shim has taken the kill on.
func (k *Killing) Accepted() bool { return k.call != nil }
