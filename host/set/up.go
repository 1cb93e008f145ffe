package set

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
)

// Action is what was done with a worker, or would be.
type Action string

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
	// Failed: Outcome.Err holds the reason.
	Failed Action = "failed"
	// Skipped: something that it depends on failed.
	Skipped Action = "skipped"
)

// Outcome is the result for one worker.
type Outcome struct {
	Name   string
	Action Action
	// Worker is the present worker; zero if it does not exist.
	Worker worker.Worker
	// Differs are the settings that differ from the declaration, such as "command" or "env
	// (PORT)"; for a Recreated worker, those that differed before.
	Differs []string
	// Awaited says that Up waited for its readiness, Ready that it is ready.
	Awaited, Ready bool
	// Err is why it failed, or is not ready; nil else.
	Err error
}

// Interrupted reports whether the worker was left because the call was ended.
func (o Outcome) Interrupted() bool { return errors.Is(o.Err, context.Canceled) }

type UpRequest struct {
	// Names are the workers to bring up, with all their dependencies; empty means all.
	Names []string
	// DryRun changes nothing and only reports the planned actions.
	DryRun bool
	// Recreate ends those that run otherwise than declared, and starts them again.
	Recreate bool
	// Acted, if it is not nil, is called for each worker after the action on it, also if
	// none was needed. It is never called concurrently, not even with the other functions.
	Acted func(Outcome)
	// Waiting, if it is not nil, is called when Up begins to wait for the readiness of a
	// worker, with the end of the wait, and Waited when the wait ends.
	Waiting func(name string, deadline time.Time)
	Waited  func(Outcome)
	// Progress, if it is not nil, is called with what the start of a worker waits for, as
	// [spawn.Request] describes it.
	Progress func(name, text string)
	// Warn, if it is not nil, is called with what else the user should know.
	Warn func(worker.Warning)
}

// starter starts workers. It is a [host.Host] but in tests.
type starter interface {
	Spawn(ctx context.Context, req spawn.Request) (worker.Worker, error)
	Respawn(ctx context.Context, name string, req spawn.RespawnRequest) (worker.Worker, error)
	AwaitReady(ctx context.Context, name string, req display.ReadyRequest) error
}

// Up starts the missing workers, each once all its dependencies are ready. Running workers
// are not touched. A failure stops the workers that depend on the failed one, and no
// others; it is in the outcomes, which are in an order in which each worker comes after the
// ones that it depends on. A name that is not declared is an [UndeclaredError], and nothing
// was started then.
func (s *Set) Up(ctx context.Context, h *host.Host, req UpRequest) ([]Outcome, error) {
	return s.up(ctx, observerOf(h), struct {
		*spawn.Spawner
		*display.Reader
	}{h.Spawn(), h.Display()}, req)
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
	u := &upRun{Set: s, observer: o, starter: st, req: req, there: there, outcomes: map[string]*Outcome{}}
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

type upRun struct {
	*Set
	observer
	starter
	req   UpRequest
	there map[string]worker.Worker
	// needed are the workers that others wait for which may have to be started.
	needed map[string]bool
	// outcomes are allocated at the beginning; each belongs to the goroutine of its worker,
	// and after that to the goroutines that waited for it.
	outcomes map[string]*Outcome

	// reporting guards the functions of the request.
	reporting sync.Mutex
}

// awaited returns the dependencies of workers that do not run.
func (u *upRun) awaited(names []string, after map[string][]string) map[string]bool {
	needed := map[string]bool{}
	for _, name := range names {
		if w, ok := u.there[name]; ok && w.Active() {
			continue
		}
		for _, other := range after[name] {
			needed[other] = true
		}
	}
	return needed
}

// leave reports a worker that runs and is not touched. The state of the workers that
// it depends on does not matter.
func (u *upRun) leave(name string) {
	w, there := u.there[name]
	if !there || !w.Active() || u.foreign(w) != nil {
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
	u.acted(out)
}

func (u *upRun) one(ctx context.Context, name string) {
	out, want := u.outcomes[name], u.byName[name]
	if out.Action == "" {
		u.start(ctx, out, want)
	}
	if out.Err == nil && !u.req.DryRun && want.Ready != nil {
		u.await(ctx, out, *want.Ready)
	}
}

func (u *upRun) start(ctx context.Context, out *Outcome, want *Worker) {
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
	u.acted(out)
}

func (u *upRun) acted(out *Outcome) {
	if u.req.Acted != nil {
		u.report(func() { u.req.Acted(*out) })
	}
}

// report calls f, which calls a function of the request: one at a time.
func (u *upRun) report(f func()) {
	u.reporting.Lock()
	defer u.reporting.Unlock()
	f()
}
