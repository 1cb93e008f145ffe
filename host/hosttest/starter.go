package hosttest

import (
	"context"
	"sync"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
)

// Starter starts fake plugins. It implements [backend.Starter].
type Starter struct {
	mu sync.Mutex
	// Peers are the plugins by name, Errors the answers to their start.
	Peers  map[string]*backend.Peer
	Errors map[string]error
	// Started and Restarts count the calls of Get and of Restart.
	Started, Restarts map[string]int
	// Ahead are the plugins that Start was called for.
	Ahead []string
}

// Fail has the next starts of a plugin return an error; nil: they succeed again.
func (f *Starter) Fail(name string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Errors[name] = err
}

func (f *Starter) Start(entries ...catalog.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range entries {
		f.Ahead = append(f.Ahead, e.Name)
	}
}

func (f *Starter) Get(_ context.Context, e catalog.Entry) (*backend.Peer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Started[e.Name]++
	if err := f.Errors[e.Name]; err != nil {
		return nil, err
	}
	return f.Peers[e.Name], nil
}

func (f *Starter) Restart(_ context.Context, e catalog.Entry, _ *backend.Peer) (*backend.Peer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Restarts[e.Name]++
	return f.Peers[e.Name], nil
}

func (f *Starter) Died(context.Context, *backend.Peer) error { return nil }
func (f *Starter) Close()                                    {}
