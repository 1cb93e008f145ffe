package host

import (
	"context"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Changes counts how far a worker's workspace differs from its beginning.
type Changes struct {
	// Files is how many files differ. Added and Removed count the lines of those that are
	// text.
	Files, Added, Removed int
	// Ahead is the number of commits that its base lacks now, Behind the number of commits
	// of the base that it lacks; nil if unknown.
	Ahead, Behind *int
}

const changesLimit = 2 * time.Second

// changesAtOnce is how many comparisons run at the same time: each starts four processes.
const changesAtOnce = 4

// Changes compares the workspaces of workers with their beginnings, concurrently and within
// limit. The result has the ids of the workers that could be compared in time.
func (h *Host) Changes(ctx context.Context, ws []worker.Worker, limit time.Duration) map[string]Changes {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var (
		all     sync.WaitGroup
		mu      sync.Mutex
		changes = make(map[string]Changes)
		slots   = make(chan struct{}, changesAtOnce)
	)
	for _, w := range ws {
		if w.Workspace == nil {
			continue
		}
		away := w.Workspace.Host != ""
		if away && w.Status == worker.StatusUnknown {
			continue // its machine does not answer
		}
		all.Go(func() {
			if !away { // else another machine runs the processes
				slots <- struct{}{}
				defer func() { <-slots }()
			}
			_, diff, err := h.Saved().Compare(ctx, w.ID, swarm.DiffOptions{Summary: true})
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
			changes[w.ID] = c
		})
	}
	all.Wait()
	return changes
}
