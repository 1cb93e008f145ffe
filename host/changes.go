package host

import (
	"context"
	"sync"
	"time"
)

// Changes are how much the work in a worker's workspace differs from its beginning.
type Changes struct {
	// Files is how many files differ. Added and Removed count the lines of those that are
	// text.
	Files, Added, Removed int
}

// changesLimit is how long all comparisons of one call may take together, and changesAtOnce
// how many run at the same time: each starts several processes.
const (
	changesLimit  = 2 * time.Second
	changesAtOnce = 4
)

// Changes compares the workspaces of workers with their beginnings, all at the same time.
// The result has the ids of those that could be compared in time.
func (h *Host) Changes(ctx context.Context, ws []Worker) map[string]Changes {
	ctx, cancel := context.WithTimeout(ctx, changesLimit)
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
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			_, diff, err := h.Saved().Diff(ctx, w.ID)
			if err != nil {
				return
			}
			c := Changes{Files: len(diff.Files)}
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
