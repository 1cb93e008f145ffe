package set

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/swarmhost/swarm/host"
)

// observer returns the state of workers. It is a [host.Host] except in tests.
type observer interface {
	Workers(ctx context.Context, sel host.Selection) ([]host.Worker, []string, error)
	Settled(ctx context.Context, name string) (host.Worker, error)
	CallerID() string
}

func look(ctx context.Context, o observer, names []string) (map[string]host.Worker, error) {
	names = slices.Clone(names)
	for len(names) > 0 {
		ws, _, err := o.Workers(ctx, host.Selection{Names: names})
		if missing, ok := errors.AsType[*host.NotFoundError](err); ok {
			names = slices.DeleteFunc(names, func(name string) bool { return name == missing.Name })
			continue
		}
		if err != nil {
			return nil, err
		}
		there := make(map[string]host.Worker, len(ws))
		for _, w := range ws {
			there[w.Name] = w
		}
		return there, nil
	}
	return nil, nil
}

// foreign returns an [ErrForeign] for a worker that another project declared, or that was
// started by hand elsewhere.
func (s *Set) foreign(w host.Worker) error {
	switch {
	case w.Project == s.project:
		return nil
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
