package set

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host"
)

// Action is what was done with a worker, or would be.
type Action string

// The actions of Up.
const (
	// Started: it was not there.
	Started Action = "started"
	// Respawned: it had ended, and was started again.
	Respawned Action = "respawned"
	// Recreated: it ran otherwise than declared, was ended and started again.
	Recreated Action = "recreated"
	// Unchanged: it runs as it is declared.
	Unchanged Action = "unchanged"
	// Differs: it runs otherwise than it is declared, and was left alone.
	Differs Action = "differs"
	// Failed: Outcome.Err says why.
	Failed Action = "failed"
	// Skipped: something that it depends on failed.
	Skipped Action = "skipped"
)

// Outcome says what came of one worker.
type Outcome struct {
	Name   string
	Action Action
	// Worker is as it is now; zero if it is not there.
	Worker host.Worker
	// Differs are what it has otherwise than declared, such as "command" or
	// "env (PORT)"; of a Recreated one, what it had.
	Differs []string
	// Awaited says that it was waited until it is ready, Ready that it is.
	Awaited, Ready bool
	// Err is why it failed, or is not ready; nil else.
	Err error
}

// Interrupted reports whether nothing came of it because the call was ended.
func (o Outcome) Interrupted() bool { return errors.Is(o.Err, context.Canceled) }

// UpRequest says how to bring workers up.
type UpRequest struct {
	// Names are the workers to bring up, with all that they depend on; none: all.
	Names []string
	// DryRun does nothing but tell what would be done.
	DryRun bool
	// Recreate ends those that run otherwise than declared, and starts them again.
	Recreate bool
	// Acted is told of each worker as soon as something was done with it, or
	// nothing has to be done; nil: nobody. It is not called twice at once, nor at
	// the same time as the others.
	Acted func(Outcome)
	// Waiting is told when Up begins to wait until a worker is ready, and until
	// when at most, Waited when that is over; nil: nobody.
	Waiting func(name string, deadline time.Time)
	Waited  func(Outcome)
	// Warn is told what the user should know beside that; nil: nobody.
	Warn func(host.Warning)
}

// starter starts workers. It is a [host.Host] but in tests.
type starter interface {
	Spawn(ctx context.Context, req host.SpawnRequest) (host.Worker, error)
	Respawn(ctx context.Context, name string, req host.RespawnRequest) (host.Worker, error)
	AwaitReady(ctx context.Context, name string, req host.ReadyRequest) error
}

// Up starts the workers that are missing: each once all that it depends on is
// ready. What runs is left as it is. A failure stops what depends on it, and
// nothing else; it is in the outcomes, which are in an order in which each worker
// comes after the ones that it depends on. A name that is not declared is an
// [UndeclaredError], and nothing was started then.
func (s *Set) Up(ctx context.Context, h *host.Host, req UpRequest) ([]Outcome, error) {
	return s.up(ctx, h, h, req)
}

func (s *Set) up(ctx context.Context, o observer, st starter, req UpRequest) ([]Outcome, error) {
	after := s.dependencies()
	names, err := s.choose(req.Names, after)
	if err != nil {
		return nil, err
	}
	there, err := look(ctx, o, names)
	if err != nil {
		return nil, err
	}
	u := &upping{Set: s, observer: o, starter: st, req: req, there: there, outcomes: map[string]*Outcome{}}
	for _, name := range names {
		u.outcomes[name] = &Outcome{Name: name}
	}
	u.needed = u.awaited(names, after)
	for _, name := range names {
		u.leave(name)
	}
	if req.DryRun {
		for _, name := range names {
			u.one(ctx, name)
		}
	} else {
		inOrder(names, after, func(name string) { u.one(ctx, name) })
	}
	outcomes := make([]Outcome, len(names))
	for i, name := range names {
		outcomes[i] = *u.outcomes[name]
	}
	return outcomes, ctx.Err()
}

// upping is one call of Up.
type upping struct {
	*Set
	observer
	starter
	req   UpRequest
	there map[string]host.Worker
	// needed are the workers that others wait for which may have to be started.
	needed map[string]bool
	// outcomes are there from the beginning; each belongs to the goroutine of its
	// worker, and after that to those that waited for it.
	outcomes map[string]*Outcome

	// telling guards the functions of the request.
	telling sync.Mutex
}

// awaited returns the workers that are waited for by one that does not run.
func (u *upping) awaited(names []string, after map[string][]string) map[string]bool {
	needed := map[string]bool{}
	for _, name := range names {
		if w, ok := u.there[name]; ok && w.Status == host.StatusRunning {
			continue
		}
		for _, other := range after[name] {
			needed[other] = true
		}
	}
	return needed
}

// leave tells of a worker that runs and is left as it is. What becomes of those
// that it depends on does not matter for it.
func (u *upping) leave(name string) {
	w, there := u.there[name]
	if !there || w.Status != host.StatusRunning || u.foreign(w) != nil {
		return
	}
	out := u.outcomes[name]
	differs := different(w, u.byName[name].Spawn)
	switch {
	case len(differs) == 0:
		out.Action = Unchanged
	case !u.req.Recreate:
		out.Action = Differs
	default:
		return
	}
	out.Worker, out.Differs = w, differs
	u.tell(u.req.Acted, *out)
}

// one brings one worker up, all that it depends on being done.
func (u *upping) one(ctx context.Context, name string) {
	out, want := u.outcomes[name], u.byName[name]
	if out.Action == "" {
		u.start(ctx, out, want)
	}
	if out.Err == nil && !u.req.DryRun && want.Ready != nil {
		u.await(ctx, out, *want.Ready)
	}
}

// start starts a worker if nothing is in the way.
func (u *upping) start(ctx context.Context, out *Outcome, want *Worker) {
	for _, other := range want.DependsOn {
		if ctx.Err() == nil && u.outcomes[other].Err != nil {
			out.Action, out.Err = Skipped, fmt.Errorf("'%s' was not started: it depends on '%s'", out.Name, other)
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		out.Action, out.Err = Skipped, context.Cause(ctx)
	case out.Err == nil:
		u.act(ctx, out, want)
	}
	u.tell(u.req.Acted, *out)
}

func (u *upping) tell(f func(Outcome), out Outcome) {
	if f == nil {
		return
	}
	u.telling.Lock()
	defer u.telling.Unlock()
	f(out)
}

// act does what has to be done so that a worker runs.
func (u *upping) act(ctx context.Context, out *Outcome, want *Worker) {
	w, there := u.there[out.Name]
	if !there {
		w, there = u.spawn(ctx, out, want)
		if !there {
			return
		}
	}
	if w.Status == host.StatusStarting && !u.req.DryRun {
		// Somebody else is at it. If it comes to nothing, it is our turn.
		settled, err := u.Settled(ctx, out.Name)
		if errors.Is(err, host.ErrNotFound) {
			if w, there = u.spawn(ctx, out, want); !there {
				return
			}
		} else if err != nil {
			out.Action, out.Err = Failed, fmt.Errorf("cannot start '%s': %w", out.Name, err)
			return
		} else {
			w = settled
		}
	}
	out.Worker = w
	if err := u.foreign(w); err != nil {
		out.Action, out.Err = Failed, err
		return
	}
	u.compare(ctx, out, want)
}

// spawn starts a worker that is not there. If somebody else was faster, it
// returns theirs, as it is once it has been started.
func (u *upping) spawn(ctx context.Context, out *Outcome, want *Worker) (theirs host.Worker, there bool) {
	out.Action = Started
	if u.req.DryRun {
		return theirs, false
	}
	out.Worker, out.Err = u.Spawn(ctx, want.Spawn)
	if errors.Is(out.Err, host.ErrExists) {
		theirs, err := u.Settled(ctx, out.Name)
		if err == nil {
			out.Err = nil
			return theirs, true
		}
		out.Err = err
	}
	if out.Err != nil {
		out.Action, out.Err = Failed, u.startError(ctx, out.Name, out.Err)
	}
	return theirs, false
}

// compare looks at a worker that is there.
func (u *upping) compare(ctx context.Context, out *Outcome, want *Worker) {
	w := out.Worker
	switch w.Status {
	case host.StatusUnknown, host.StatusStarting:
		out.Action, out.Err = Failed, fmt.Errorf("cannot tell how '%s' is: %s", w.Name, w.Reason)
	case host.StatusRunning:
		out.Differs = different(w, want.Spawn)
		switch {
		case len(out.Differs) == 0:
			out.Action = Unchanged
		case !u.req.Recreate:
			out.Action = Differs
		case w.ID == u.CallerID():
			out.Action, out.Err = Failed, fmt.Errorf("cannot recreate '%s': this command runs in it", w.Name)
		default:
			u.respawn(ctx, out, want, Recreated)
		}
	case host.StatusStopped, host.StatusLost:
		if !w.Gone() {
			out.Action, out.Err = Failed, fmt.Errorf("cannot start '%s': its keeper died, but %d of its processes live; 'swarm kill %s' ends them", w.Name, len(w.Survivors), w.Name)
			return
		}
		u.respawn(ctx, out, want, Respawned)
	}
}

func (u *upping) respawn(ctx context.Context, out *Outcome, want *Worker, action Action) {
	out.Action = action
	if ws := out.Worker.Workspace; ws != nil && want.Spawn.Workspace != nil && worktree(out.Worker, want.Spawn) {
		// Its place or its branch would be taken by the old one, which may hold work.
		out.Action, out.Err = Failed, fmt.Errorf(
			"cannot start '%s': it has another worktree, %s; 'swarm down --rm-worktree %s' removes it", out.Name, ws.Path, out.Name)
		return
	}
	if u.req.DryRun {
		return
	}
	w, err := u.Respawn(ctx, out.Name, host.RespawnRequest{As: &want.Spawn, Warn: u.warn})
	if err != nil {
		out.Action, out.Err = Failed, u.startError(ctx, out.Name, err)
		return
	}
	out.Worker = w
}

func (u *upping) warn(w host.Warning) {
	if u.req.Warn == nil {
		return
	}
	u.telling.Lock()
	defer u.telling.Unlock()
	u.req.Warn(w)
}

// startError names the worker that could not be started; that a call was ended is
// told as it is.
func (u *upping) startError(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &startError{name: name, err: err}
}
