package fake

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Backend is a backend on an [Engine], with every capability: the tests of the conformance kit
// break each rule once, and notice a capability that is missing here.
type Backend struct{ engine *Engine }

// The format of a handle: the id of the worker after a prefix.
const (
	handleVersion = 1
	handlePrefix  = "fake:"
)

// Spawn implements [swarm.Backend].
func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	if err := ctx.Err(); err != nil {
		return swarm.Handle{}, err
	}
	run, err := accept(spec)
	if err != nil {
		return swarm.Handle{}, err
	}
	w := &worker{
		engine: b.engine, spec: spec, run: run, created: time.Now(), started: time.Now(),
		done: make(chan struct{}), changed: make(chan struct{}),
	}
	if err := b.engine.add(w); err != nil {
		return swarm.Handle{}, err
	}
	if spec.Owner != nil {
		go w.follow(*spec.Owner) // ends with the worker
	}
	run(w)
	return handle(spec.ID), nil
}

// accept returns the program of a spec, or refuses the spec.
func accept(spec swarm.Spec) (func(*worker), error) {
	run, ok := programs[spec.Command[0]]
	if !ok {
		return nil, fmt.Errorf("%w: command not found: %s", swarm.ErrInvalidSpec, spec.Command[0])
	}
	for key := range spec.Options {
		return nil, fmt.Errorf("%w: unknown option %q", swarm.ErrInvalidSpec, key)
	}
	return run, canEnclose(spec.Sandbox)
}

// CheckSpawn implements [swarm.SpawnChecker].
func (b *Backend) CheckSpawn(ctx context.Context, c swarm.SpawnCheck) error {
	_, err := accept(c.Spec)
	return cmp.Or(ctx.Err(), err)
}

func (e *Engine) add(w *worker) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, taken := e.workers[w.spec.ID]; taken {
		return fmt.Errorf("worker %s: %w", w.spec.ID, swarm.ErrExists)
	}
	e.pids++
	w.pid = e.pids
	e.workers[w.spec.ID] = w
	return nil
}

func (e *Engine) newPID() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pids++
	return e.pids
}

func handle(id string) swarm.Handle {
	return swarm.Handle{Version: handleVersion, Data: []byte(handlePrefix + id)}
}

// worker returns the worker of a handle.
func (b *Backend) worker(h swarm.Handle) (*worker, error) {
	id, ok := strings.CutPrefix(string(h.Data), handlePrefix)
	if h.Version != handleVersion || !ok {
		return nil, fmt.Errorf("%w of version %d", swarm.ErrInvalidHandle, h.Version)
	}
	return b.find(id)
}

func (b *Backend) find(id string) (*worker, error) {
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	w, ok := b.engine.workers[id]
	if !ok {
		return nil, fmt.Errorf("worker %q: %w", id, swarm.ErrNotFound)
	}
	return w, nil
}

// Status implements [swarm.Backend].
func (b *Backend) Status(_ context.Context, h swarm.Handle) (swarm.Status, error) {
	w, err := b.worker(h)
	if err != nil {
		return swarm.Status{}, err
	}
	return w.status(), nil
}

// StatusBatch implements [swarm.BatchStatuser].
func (b *Backend) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	results := make([]swarm.StatusResult, len(hs))
	for i, h := range hs {
		results[i].Status, results[i].Err = b.Status(ctx, h)
	}
	return results, nil
}

// Find implements [swarm.Finder].
func (b *Backend) Find(_ context.Context, l swarm.Lookup) (swarm.Handle, error) {
	if _, err := b.find(l.ID); err != nil {
		return swarm.Handle{}, err
	}
	return handle(l.ID), nil
}

// Sweep implements [swarm.Sweeper]. Workers of the engine share nothing.
func (b *Backend) Sweep(context.Context, []swarm.Handle, []swarm.Handle) ([]string, error) {
	return nil, nil
}

// Announce implements [swarm.Announcer].
func (b *Backend) Announce() []swarm.Capability {
	return []swarm.Capability{
		swarm.CapStdin, swarm.CapRestart, swarm.CapOwner, swarm.CapTranscript, swarm.CapSandbox,
		swarm.CapLimitMemory, swarm.CapLimitCPUs, swarm.CapLimitPIDs, swarm.CapLimitNice, swarm.CapLimitIOWeight,
	}
}

// Check implements [swarm.Checker].
func (b *Backend) Check(context.Context) error { return nil }

// List implements [swarm.Lister].
func (b *Backend) List(ctx context.Context, each func(swarm.Listed) error) error {
	b.engine.mu.Lock()
	workers := slices.Collect(maps.Values(b.engine.workers))
	b.engine.mu.Unlock()
	for _, w := range workers {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.mu.Lock()
		spec := w.spec
		w.mu.Unlock()
		spec.Env, spec.Owner, spec.Local = nil, nil, nil
		st := w.status()
		if err := each(swarm.Listed{Spec: spec, Handle: handle(spec.ID), Created: w.created, Status: st}); err != nil {
			return err
		}
	}
	return nil
}
