// Package progress reports what the spawns of a backend wait for. A backend that keeps a
// [Spawns] needs one line to implement [swarm.Progresser]; plugins import it.
package progress

import (
	"context"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/sleep"
)

// pause is between two texts about the same spawn.
const pause = 250 * time.Millisecond

// Spawns holds what the spawns in progress wait for, by the ids of their workers. The zero
// value has none. All its methods may be called at the same time.
type Spawns struct {
	mu    sync.Mutex
	waits map[string]*wait
}

type wait struct {
	text    string        // empty: nothing
	changed chan struct{} // closed when text has changed, and when the spawn has returned
}

// BeginSpawn adds a spawn that waits for nothing yet. The caller calls end when the spawn returns.
func (s *Spawns) BeginSpawn(id string) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waits == nil {
		s.waits = make(map[string]*wait)
	}
	w := &wait{changed: make(chan struct{})}
	s.waits[id] = w
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.waits[id] == w {
			delete(s.waits, id)
		}
		close(w.changed)
	}
}

// SpawnWaits says what a spawn waits for now; the empty text means that it waits for nothing.
func (s *Spawns) SpawnWaits(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waits[id]; w != nil && w.text != text {
		w.text = text
		close(w.changed)
		w.changed = make(chan struct{})
	}
}

// get returns what a spawn waits for. It returns false if there is no such spawn.
func (s *Spawns) get(id string) (text string, changed <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waits[id]
	if w == nil {
		return "", nil, false
	}
	return w.text, w.changed, true
}

// Progress calls each as [swarm.Progresser] says.
func (s *Spawns) Progress(ctx context.Context, id string, each func(text string) error) error {
	for {
		text, changed, ok := s.get(id)
		if !ok {
			return nil
		}
		if text != "" {
			if err := each(text); err != nil {
				return err
			}
			if err := sleep.For(ctx, pause); err != nil {
				return err
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
