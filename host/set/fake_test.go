package set

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

// fake is a host in which everything happens at once, unless a test holds it up.
type fake struct {
	mu      sync.Mutex
	workers map[string]worker.Worker
	// log are the calls in the order in which they began, with what ended them
	// where that matters.
	log []string
	// fail are the errors of calls, such as "spawn db".
	fail map[string]error
	// during is called in a call, without the mutex.
	during map[string]func(ctx context.Context)
	self   string
}

func newFake(ws ...worker.Worker) *fake {
	f := &fake{workers: map[string]worker.Worker{}, fail: map[string]error{}, during: map[string]func(context.Context){}}
	for _, w := range ws {
		f.workers[w.Name] = w
	}
	return f
}

func (f *fake) call(ctx context.Context, what string) error {
	f.mu.Lock()
	f.log = append(f.log, what)
	during, err := f.during[what], f.fail[what]
	f.mu.Unlock()
	if during != nil {
		during(ctx)
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

func (f *fake) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

func (f *fake) put(w worker.Worker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workers[w.Name] = w
}

func (f *fake) Workers(_ context.Context, sel worker.Selection) ([]worker.Worker, []string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ws []worker.Worker
	for _, name := range sel.Names {
		w, ok := f.workers[name]
		if !ok {
			return nil, nil, &store.NotFoundError{Name: name}
		}
		ws = append(ws, w)
	}
	return ws, nil, nil
}

func (f *fake) Settled(ctx context.Context, name string) (worker.Worker, error) {
	if err := f.call(ctx, "settle "+name); err != nil {
		return worker.Worker{}, err
	}
	ws, _, err := f.Workers(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return worker.Worker{}, err
	}
	return ws[0], nil
}

func (f *fake) ID() string { return f.self }

func (f *fake) Spawn(ctx context.Context, req spawn.Request) (worker.Worker, error) {
	if err := f.call(ctx, "spawn "+req.Name); err != nil {
		return worker.Worker{}, err
	}
	f.mu.Lock()
	_, taken := f.workers[req.Name]
	f.mu.Unlock()
	if taken {
		return worker.Worker{}, fmt.Errorf("%s: %w", req.Name, worker.ErrExists)
	}
	w := runningWorker(req)
	f.put(w)
	return w, nil
}

func (f *fake) Respawn(ctx context.Context, id string, req spawn.RespawnRequest) (worker.Worker, error) {
	name := req.As.Name
	if err := f.call(ctx, "respawn "+name); err != nil {
		return worker.Worker{}, err
	}
	f.mu.Lock()
	now := f.workers[name].ID
	f.mu.Unlock()
	if now != id {
		return worker.Worker{}, &store.NotFoundError{Name: id}
	}
	w := runningWorker(*req.As)
	w.ID += "2"
	f.put(w)
	return w, nil
}

func (f *fake) AwaitReady(ctx context.Context, name string, _ display.ReadyRequest) error {
	return f.call(ctx, "await "+name)
}

func (f *fake) Kill(ctx context.Context, sel worker.Selection, req kill.Request) ([]kill.Outcome, error) {
	f.mu.Lock()
	var w worker.Worker
	for _, other := range f.workers {
		if other.ID == sel.Names[0] {
			w = other
		}
	}
	f.mu.Unlock()
	err := f.call(ctx, "kill "+w.Name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err == nil {
		w.Status = worker.StatusStopped
		f.put(w)
	}
	out := kill.Outcome{Worker: w, Err: err}
	if req.Done != nil {
		req.Done(out)
	}
	if req.Warn != nil {
		req.Warn(worker.Warning{Text: "the session stays"})
	}
	if req.Answer != nil {
		req.Answer([]kill.Outcome{out})
	}
	return []kill.Outcome{out}, nil
}

// runningWorker returns a worker that runs as it was asked for.
func runningWorker(req spawn.Request) worker.Worker {
	return worker.Worker{
		Spec:   registry.Spec{ID: "id-" + req.Name, Name: req.Name, Backend: req.Backend, Command: req.Command, Dir: req.Dir, Env: req.Env, Tags: req.Tags, Options: req.Options, Restart: req.Restart, Retain: req.Retain, Stdin: req.Stdin, OutputLimit: req.OutputLimit, Project: req.Project},
		Status: worker.StatusRunning, Started: time.Now(),
	}
}

const project = "/p/swarm.toml"

// declare returns a worker that depends on others.
func declare(name string, on ...string) Worker {
	return Worker{
		Spawn:     spawn.Request{Name: name, Backend: "process", Command: []string{"run", name}, Dir: "/p", Project: project},
		DependsOn: on,
	}
}

func newSet(t *testing.T, ws ...Worker) *Set {
	t.Helper()
	s, err := New(project, ws)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
