package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/registry"
)

// AmbiguousNameError says that no worker has a name, and that it is the name of agents
// of several teams. It is an [ErrNotFound].
type AmbiguousNameError struct {
	Name string
	// Workers are the names of the agents' workers.
	Workers []string
}

func (e *AmbiguousNameError) Error() string {
	return fmt.Sprintf("no worker '%s', but agents of that name in several teams: '%s'", e.Name, strings.Join(e.Workers, "', '"))
}

func (e *AmbiguousNameError) Hint() string {
	return fmt.Sprintf("name the worker, such as '%s'", e.Workers[0])
}

func (e *AmbiguousNameError) Is(target error) bool { return target == ErrNotFound }

// ByAgent returns the names with the worker of an agent in place of each that no worker
// has and the agent does. Several such agents are an [AmbiguousNameError]. A name of
// neither is returned unchanged.
func (s *Store) ByAgent(ctx context.Context, names []string) ([]string, error) {
	if len(names) == 0 {
		return names, nil
	}
	found := slices.Clone(names)
	err := s.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		recs, _, err := tx.Read(ctx, registry.Query{Names: names})
		if err != nil {
			return err
		}
		for i, name := range names {
			if Find(recs, name) >= 0 {
				continue
			}
			workers, err := agentWorkers(ctx, tx, name)
			switch {
			case err != nil:
				return err
			case len(workers) > 1:
				return &AmbiguousNameError{Name: name, Workers: workers}
			case len(workers) == 1:
				found[i] = workers[0]
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return names, nil
	}
	return found, err
}

// AgentWorkers returns the names of the workers of the agents with a name, in the state
// directory dir, for suggestions. It starts nothing and writes nothing.
func AgentWorkers(ctx context.Context, dir, name string) ([]string, error) {
	return readIn(ctx, dir, func(reg *registry.Registry, ctx context.Context) (workers []string, err error) {
		err = reg.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
			workers, err = agentWorkers(ctx, tx, name)
			return err
		})
		return workers, err
	})
}

// agentWorkers returns the names of the workers of the living agents with a name, sorted.
func agentWorkers(ctx context.Context, tx *registry.Tx, name string) ([]string, error) {
	agents, _, err := tx.Agents(ctx, registry.AgentQuery{Live: true})
	var workers []string
	for _, a := range agents {
		if a.Name == name && a.Worker != "" {
			workers = append(workers, a.Worker)
		}
	}
	slices.Sort(workers)
	return workers, err
}
