package set

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/swarm"
)

type Worker struct {
	// Spawn holds its settings. Its name is the worker's, its project that of the set.
	Spawn spawn.Request
	// DependsOn are the names of workers of the same set that have to be ready
	// before this one starts.
	DependsOn []string
	// Ready is the condition for its readiness; nil means as soon as it runs.
	Ready *display.ReadyRequest
}

// Set is the workers of one project, in the order of their declaration.
type Set struct {
	project string
	workers []Worker
	byName  map[string]*Worker
}

// New returns the set of a project, which is the path of what declares it. Names are
// unique, dependencies are in the set and without a cycle; the error names violations.
func New(project string, workers []Worker) (*Set, error) {
	s := &Set{project: project, workers: slices.Clone(workers), byName: map[string]*Worker{}}
	for i := range s.workers {
		w := &s.workers[i]
		w.Spawn.Project = project
		if s.byName[w.Spawn.Name] != nil {
			return nil, fmt.Errorf("worker '%s' is declared twice", w.Spawn.Name)
		}
		s.byName[w.Spawn.Name] = w
	}
	for _, w := range s.workers {
		for _, name := range w.DependsOn {
			if s.byName[name] == nil {
				return nil, fmt.Errorf("worker '%s' depends on '%s', which is not declared", w.Spawn.Name, name)
			}
			if path := s.path(name, w.Spawn.Name, nil); path != nil {
				return nil, fmt.Errorf("a cycle of dependencies: %s", strings.Join(append([]string{w.Spawn.Name}, path...), " -> "))
			}
		}
	}
	return s, nil
}

// path returns the names on a path of dependencies between two workers, both included; nil
// if there is none.
func (s *Set) path(from, to string, seen map[string]bool) []string {
	if from == to {
		return []string{to}
	}
	if seen == nil {
		seen = map[string]bool{}
	}
	seen[from] = true
	for _, next := range s.byName[from].DependsOn {
		if seen[next] {
			continue
		}
		if rest := s.path(next, to, seen); rest != nil {
			return append([]string{from}, rest...)
		}
	}
	return nil
}

func (s *Set) Names() []string {
	names := make([]string, len(s.workers))
	for i, w := range s.workers {
		names[i] = w.Spawn.Name
	}
	return names
}

// choose returns the named workers, or all, together with those that follow
// leads to from them, in an order in which each comes after the ones that it has
// to wait for.
func (s *Set) choose(names []string, follow map[string][]string) ([]string, error) {
	if len(names) == 0 {
		names = s.Names()
	}
	var chosen []string
	seen := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for _, next := range follow[name] {
			add(next)
		}
		chosen = append(chosen, name)
	}
	for _, name := range names {
		if s.byName[name] == nil {
			return nil, &UndeclaredError{Name: name, Project: s.project}
		}
	}
	for _, name := range names {
		add(name)
	}
	return chosen, nil
}

// Dependencies returns the named workers, or all, and those that they depend on,
// in an order in which each comes after the ones that it depends on.
func (s *Set) Dependencies(names []string) ([]string, error) {
	return s.choose(names, s.dependencies())
}

// SetEnv sets the variables of a worker, KEY=VALUE.
func (s *Set) SetEnv(name string, env []string) { s.byName[name].Spawn.Env = env }

func (s *Set) dependencies() map[string][]string {
	after := map[string][]string{}
	for _, w := range s.workers {
		after[w.Spawn.Name] = w.DependsOn
	}
	return after
}

// dependants returns what each worker waits for when it ends.
func (s *Set) dependants() map[string][]string {
	after := map[string][]string{}
	for _, w := range s.workers {
		for _, name := range w.DependsOn {
			after[name] = append(after[name], w.Spawn.Name)
		}
	}
	return after
}

// observer returns the state of workers. It is a [host.Host] except in tests.
type observer interface {
	workers
	// ID returns the id of the worker in which the caller runs.
	ID() string
}

type workers interface {
	Workers(ctx context.Context, sel worker.Selection) ([]worker.Worker, []string, error)
	Settled(ctx context.Context, name string) (worker.Worker, error)
}

func observerOf(h *host.Host) observer {
	return struct {
		workers
		*caller.Finder
	}{h, h.Callers()}
}

func look(ctx context.Context, o observer, names []string) (map[string]worker.Worker, error) {
	names = slices.Clone(names)
	for len(names) > 0 {
		ws, _, err := o.Workers(ctx, worker.Selection{Names: names})
		if missing, ok := errors.AsType[*store.NotFoundError](err); ok {
			names = slices.DeleteFunc(names, func(name string) bool { return name == missing.Name })
			continue
		}
		if err != nil {
			return nil, err
		}
		there := make(map[string]worker.Worker, len(ws))
		for _, w := range ws {
			there[w.Name] = w
		}
		return there, nil
	}
	return nil, nil
}

// foreign returns an [ErrForeign] for a worker that another project declared, or that was
// started by hand elsewhere.
func (s *Set) foreign(w worker.Worker) error {
	switch {
	case w.Project == s.project:
		return nil
	case w.Project != "" && missing(w.Project):
		return fmt.Errorf("worker '%s' is %w: it was declared in %s, which does not exist any more. If the project has moved, 'swarm kill %s' and 'swarm clean %s' free the name",
			w.Name, ErrForeign, w.Project, w.Name, w.Name)
	case w.Project != "":
		return fmt.Errorf("worker '%s' is %w: it is declared in %s", w.Name, ErrForeign, w.Project)
	case w.Workspace != nil && within(s.byName[w.Name].Spawn.Dir, w.Workspace.Base), sameDir(w.Dir, s.byName[w.Name].Spawn.Dir):
		return nil
	case w.Dir == "":
		return fmt.Errorf("worker '%s' is %w: it was started by hand", w.Name, ErrForeign)
	default:
		return fmt.Errorf("worker '%s' is %w: it was started by hand in %s", w.Name, ErrForeign, w.Dir)
	}
}

// missing reports whether a file certainly does not exist.
func missing(file string) bool {
	_, err := os.Lstat(file)
	return errors.Is(err, fs.ErrNotExist)
}

// ErrForeign says that a worker with a declared name does not belong to the project.
var ErrForeign = errors.New("not of this project")

// UndeclaredError names a worker that is not in the set.
type UndeclaredError struct{ Name, Project string }

func (e *UndeclaredError) Error() string {
	return fmt.Sprintf("worker '%s' is not declared in %s", e.Name, e.Project)
}

// startError names a worker that could not be started.
type startError struct {
	name string
	err  error
}

func (e *startError) Error() string {
	// The texts of the sentinels say no more than the text after them.
	return fmt.Sprintf("cannot start '%s': %s", e.name, errtext.Without(e.err, swarm.ErrInvalidSpec, swarm.ErrUnavailable))
}
func (e *startError) Unwrap() error { return e.err }

// inOrder calls do with every name, once it has returned for all names that this
// one waits for; those that do not wait for each other at the same time. Names
// that are waited for and not among names are not waited for. There is no cycle.
func inOrder(names []string, after map[string][]string, do func(name string)) {
	done := make(map[string]chan struct{}, len(names))
	for _, name := range names {
		done[name] = make(chan struct{})
	}
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			defer close(done[name])
			for _, other := range after[name] {
				if c := done[other]; c != nil {
					<-c
				}
			}
			do(name)
		})
	}
	wg.Wait()
}
