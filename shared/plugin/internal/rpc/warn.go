package rpc

import (
	"context"
	"sync"

	"github.com/swarmhost/swarm/shared/swarm"
)

// warnings are what a call has warned of.
type warnings struct {
	mu    sync.Mutex
	texts []string
	taken bool // the call has returned
}

// collect returns a context whose warnings are collected.
func collect(ctx context.Context) (context.Context, *warnings) {
	w := new(warnings)
	return swarm.WithWarnings(ctx, w.add), w
}

func (w *warnings) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.taken && len(w.texts) < swarm.MaxWarnings {
		w.texts = append(w.texts, text)
	}
}

// take returns the warnings of a call that has returned.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = true
	return w.texts
}
