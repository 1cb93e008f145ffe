package set

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

// finder finds workers by their project. It is a [host.Host] but in tests.
type finder interface {
	Declared(ctx context.Context, project string) ([]worker.Worker, error)
}

// cleaner ends workers and removes their records. It is a [host.Host] but in tests.
type cleaner interface {
	killer
	Clean(ctx context.Context, sel worker.Selection, req kill.CleanRequest) ([]kill.Outcome, error)
}

// OrphansOf returns the workers that the file of a project declared once and declares no
// more; declared are the names of those that it declares now. Workers of other files, and
// those that were spawned by hand, are never among them.
func OrphansOf(ctx context.Context, h *host.Host, project string, declared []string) ([]worker.Worker, error) {
	return orphans(ctx, h, observerOf(h), project, declared)
}

// Orphans returns the orphans of the set, see [OrphansOf].
func (s *Set) Orphans(ctx context.Context, h *host.Host) ([]worker.Worker, error) {
	return OrphansOf(ctx, h, s.project, s.Names())
}

// Project returns the path of what declares the set.
func (s *Set) Project() string { return s.project }

func orphans(ctx context.Context, f finder, o observer, project string, declared []string) ([]worker.Worker, error) {
	ws, err := f.Declared(ctx, project)
	if err != nil || len(ws) == 0 {
		return nil, err
	}
	now := make(map[string]bool, len(declared))
	for _, name := range declared {
		now[name] = true
	}
	var names []string
	for _, w := range ws {
		if w.Project == project && project != "" && !now[w.Name] {
			names = append(names, w.Name)
		}
	}
	there, err := look(ctx, o, names)
	if err != nil {
		return nil, err
	}
	var found []worker.Worker
	for _, w := range ws { // in the order in which they were spawned
		if seen, ok := there[w.Name]; ok && seen.Project == project && !now[w.Name] {
			found = append(found, seen)
		}
	}
	return found, nil
}

type Removal struct {
	// Worker is the orphan as it was.
	Worker worker.Worker
	// Kill and Clean are the results; Clean is nil if the worker could not be ended.
	Kill, Clean *kill.Outcome
	// Err is why it is still there; nil if it was removed.
	Err error
}

// RemoveOrphans ends workers by their policies and cleans them. A workspace with work in it
// stays, as always. The worker in which the caller runs is not removed.
func RemoveOrphans(ctx context.Context, h *host.Host, all []worker.Worker) []Removal {
	return removeOrphans(ctx, h.Kill(), h.Callers().ID(), all)
}

func removeOrphans(ctx context.Context, h cleaner, self string, all []worker.Worker) []Removal {
	removals := make([]Removal, len(all))
	for i, w := range all {
		r := &removals[i]
		r.Worker = w
		if w.ID == self {
			r.Err = fmt.Errorf("cannot remove '%s': this command runs in it", w.Name)
			continue
		}
		sel := worker.Selection{Names: []string{w.ID}}
		if !w.Gone() {
			outs, err := h.Kill(ctx, sel, kill.Request{})
			switch {
			case errors.Is(err, store.ErrNotFound):
				continue // it ended by itself, and its record went with it
			case err != nil:
				r.Err = err
				continue
			}
			r.Kill = &outs[0]
			if r.Err = outs[0].Err; r.Err != nil {
				continue
			}
		}
		outs, err := h.Clean(ctx, sel, kill.CleanRequest{})
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			r.Err = err
		default:
			r.Clean, r.Err = &outs[0], outs[0].Err
		}
	}
	return removals
}
