// Package compare finds what the work in workspaces has changed since they were made.
package compare

import (
	"context"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/roster"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// compareLimit is how long a plugin may take for one workspace.
const compareLimit = 5 * time.Minute

// Workspaces are those of the workers of a host. Their methods may be called concurrently. Their
// fields are what they need.
type Workspaces struct {
	Plugins *backend.Plugins
	Roster  *roster.Roster
}

// Compare returns what the work in a worker's workspace has changed since that was made.
func (w *Workspaces) Compare(ctx context.Context, name string, o swarm.DiffOptions) (ref swarm.WorkspaceRef, diff swarm.Diff, err error) {
	recs, _, err := w.Roster.See(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return ref, diff, err
	}
	rec := recs[0]
	if rec.Workspace == nil {
		return ref, diff, worker.Invalid("worker '%s' has no workspace", rec.Name)
	}
	e, err := w.Plugins.WorkspaceEntry(&rec)
	if err != nil {
		return ref, diff, err
	}
	ctx, cancel := w.Plugins.Within(ctx, e.Name, compareLimit)
	defer cancel()
	err = w.Plugins.AskWorkspace(ctx, e, true, func(p *backend.Peer) error {
		d, can := p.Workspace.(swarm.Differ)
		if !can || !p.Has(swarm.CapDiff) {
			return worker.UnsupportedByPlugin(e.Name, swarm.CapDiff)
		}
		diff, err = d.Diff(ctx, *rec.Workspace, o)
		return err
	})
	if err != nil {
		err = worker.Named(err, "cannot compare the workspace of", rec.Name)
	}
	return *rec.Workspace, diff, err
}

// Changes counts how far a worker's workspace differs from its beginning.
type Changes struct {
	// Files is how many files differ. Added and Removed count the lines of those that are
	// text.
	Files, Added, Removed int
	// Ahead is the number of commits that its base lacks now, Behind the number of commits
	// of the base that it lacks; nil if unknown.
	Ahead, Behind *int
}

// changesAtOnce is how many comparisons run at the same time: each starts four processes.
const changesAtOnce = 4

// Changes compares the workspaces of workers with their beginnings, concurrently and within
// limit. The result has the ids of the workers that could be compared in time.
func (w *Workspaces) Changes(ctx context.Context, workers []worker.Worker, limit time.Duration) map[string]Changes {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var (
		all     sync.WaitGroup
		mu      sync.Mutex
		changes = make(map[string]Changes)
		slots   = make(chan struct{}, changesAtOnce)
	)
	for _, one := range workers {
		if one.Workspace == nil {
			continue
		}
		away := one.Workspace.Host != ""
		if away && one.Status == worker.StatusUnknown {
			continue // its machine does not answer
		}
		all.Go(func() {
			if !away { // else another machine runs the processes
				slots <- struct{}{}
				defer func() { <-slots }()
			}
			_, diff, err := w.Compare(ctx, one.ID, swarm.DiffOptions{Summary: true})
			if err != nil {
				return
			}
			c := Changes{Files: len(diff.Files), Ahead: diff.Ahead, Behind: diff.Behind}
			for _, f := range diff.Files {
				c.Added += max(f.Added, 0) // it is -1 for a file that is not text
				c.Removed += max(f.Removed, 0)
			}
			mu.Lock()
			defer mu.Unlock()
			changes[one.ID] = c
		})
	}
	all.Wait()
	return changes
}
