package set

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

type DownRequest struct {
	// Names are the workers to bring down, with all their dependents; empty means all.
	Names []string
	// Kill holds the options of the kills. Its functions are called as by [host.Host.Kill],
	// one at a time, Done in the order in which workers end. With RemoveWorkspace, workers
	// that have ended already are included.
	Kill kill.Request
	// Idle, if it is not nil, is called for each worker that needs no kill.
	Idle func(name string)
}

// killer ends workers. It is a [host.Host] but in tests.
type killer interface {
	Kill(ctx context.Context, sel worker.Selection, req kill.Request) ([]kill.Outcome, error)
}

// Down ends the running workers, each once all its dependents have ended. The worker in
// which the caller runs is the last. If a worker can't be ended, the workers that it
// depends on keep running. The outcomes hold all results, with the error of each. A name
// that is not declared is an [UndeclaredError], and nothing was ended then.
func (s *Set) Down(ctx context.Context, h *host.Host, req DownRequest) ([]kill.Outcome, error) {
	return s.down(ctx, observerOf(h), h.Kill(), req)
}

func (s *Set) down(ctx context.Context, o observer, k killer, req DownRequest) ([]kill.Outcome, error) {
	after := s.dependants()
	names, err := s.choose(req.Names, after)
	if err != nil {
		return nil, err
	}
	there, err := look(ctx, o, names)
	if err != nil {
		return nil, err
	}
	d := &downRun{Set: s, killer: k, req: req, there: there, after: after, failed: map[string]bool{}, warned: map[string]bool{}}
	self := o.ID()
	names = slices.DeleteFunc(names, d.left)
	var last string
	if own := slices.IndexFunc(names, func(name string) bool { return there[name].ID == self }); own >= 0 {
		last = names[own]
		names = slices.Delete(names, own, own+1)
	}
	inOrder(names, after, func(name string) { d.one(ctx, name, nil) })
	if last == "" {
		d.answer(d.outcomes)
		return d.outcomes, nil
	}
	d.one(ctx, last, func(own []kill.Outcome) { d.answer(slices.Concat(d.outcomes, own)) })
	return d.outcomes, nil
}

type downRun struct {
	*Set
	killer
	req   DownRequest
	there map[string]worker.Worker
	after map[string][]string

	// mu guards what follows, and the functions of the request.
	mu       sync.Mutex
	outcomes []kill.Outcome
	failed   map[string]bool
	// warned are the warnings so far: every kill checks the sessions that it has emptied,
	// and two may report the same.
	warned map[string]bool
}

func (d *downRun) answer(outcomes []kill.Outcome) {
	if d.req.Kill.Answer != nil {
		d.req.Kill.Answer(outcomes)
	}
}

// left reports whether a worker needs no kill, and calls Idle for it.
func (d *downRun) left(name string) bool {
	w, there := d.there[name]
	if !there || w.Gone() && (!d.req.Kill.RemoveWorkspace || w.Workspace == nil) {
		d.idle(name)
		return true
	}
	// The worker of this project does not run.
	err := d.foreign(w)
	if err != nil && d.req.Kill.Warn != nil {
		d.req.Kill.Warn(worker.Warning{Text: err.Error()})
	}
	return err != nil
}

// one ends one worker, after all its dependents. answer is for the caller's own.
func (d *downRun) one(ctx context.Context, name string, answer func([]kill.Outcome)) {
	w := d.there[name]
	err := context.Cause(ctx)
	if err == nil {
		err = d.needed(name)
	}
	if err == nil {
		req := d.request()
		req.Answer = answer
		var outcomes []kill.Outcome
		if outcomes, err = d.Kill(ctx, worker.Selection{Names: []string{w.ID}}, req); err == nil {
			d.note(outcomes...)
			return
		}
		if errors.Is(err, store.ErrNotFound) {
			// It ended by itself, and its record was not kept.
			d.idle(name)
			if answer != nil {
				answer(nil)
			}
			return
		}
	}
	out := kill.Outcome{Worker: w, Err: err}
	d.note(out)
	if d.req.Kill.Done != nil {
		d.report(func() { d.req.Kill.Done(out) })
	}
	if answer != nil {
		answer([]kill.Outcome{out})
	}
}

func (d *downRun) idle(name string) {
	if d.req.Idle != nil {
		d.report(func() { d.req.Idle(name) })
	}
}

// needed returns an error if a worker that depends on this one could not be
// ended.
func (d *downRun) needed(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, other := range d.after[name] {
		if d.failed[other] {
			return fmt.Errorf("'%s' was not ended: '%s' depends on it and still runs", name, other)
		}
	}
	return nil
}

func (d *downRun) note(outcomes ...kill.Outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, out := range outcomes {
		d.failed[out.Worker.Name] = out.Err != nil
	}
	d.outcomes = append(d.outcomes, outcomes...)
}

func (d *downRun) report(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// request returns the caller's request, whose functions are called one at a time.
func (d *downRun) request() kill.Request {
	req := d.req.Kill
	if progress := req.Progress; progress != nil {
		req.Progress = func(e kill.Event) { d.report(func() { progress(e) }) }
	}
	if done := req.Done; done != nil {
		req.Done = func(out kill.Outcome) { d.report(func() { done(out) }) }
	}
	if warn := req.Warn; warn != nil {
		req.Warn = func(w worker.Warning) {
			d.report(func() {
				if !d.warned[w.Text] {
					d.warned[w.Text] = true
					warn(w)
				}
			})
		}
	}
	return req
}
