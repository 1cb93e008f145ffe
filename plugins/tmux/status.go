package tmux

import (
	"context"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Status tells how the worker is.
func (b *Backend) Status(ctx context.Context, raw swarm.Handle) (swarm.Status, error) {
	results, err := b.StatusBatch(ctx, []swarm.Handle{raw})
	if err != nil {
		return swarm.Status{}, err
	}
	return results[0].Status, results[0].Err
}

// StatusBatch looks at the machine once for all, and at each tmux server once.
func (b *Backend) StatusBatch(ctx context.Context, raws []swarm.Handle) ([]swarm.StatusResult, error) {
	look := new(shim.Look)
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	seen := &windows{log: b.log, asked: make(map[string]bool), panes: make(map[string]map[string]pane)}
	results := make([]swarm.StatusResult, len(raws))
	handles := make([]handle, len(raws))
	for i, raw := range raws {
		r := &results[i]
		if handles[i], r.Err = decode(raw); r.Err != nil {
			continue
		}
		h := handles[i]
		if r.Status, r.Err = look.Status(h.Dir, h.ID); r.Status.State == swarm.StateRunning {
			seen.ask(ctx, h)
		}
	}
	seen.wait()
	for i, h := range handles {
		if results[i].Err == nil {
			results[i].Status.Where = seen.where(h)
		}
	}
	return results, nil
}

// windows is where windows are, as their servers say. A server that can't be asked
// does not know: that is for people to see, and not worth an error.
type windows struct {
	log    hclog.Logger
	asking sync.WaitGroup
	asked  map[string]bool

	mu sync.Mutex
	// panes are one of each worker's window, by socket and worker.
	panes map[string]map[string]pane
}

// ask asks the server of a worker in the background, if it was not asked before.
func (w *windows) ask(ctx context.Context, h handle) {
	if h.Window == "" || w.asked[h.Socket] {
		return
	}
	w.asked[h.Socket] = true
	w.asking.Go(func() {
		panes, err := h.server().panes(ctx)
		if err != nil {
			w.log.Debug("tmux can't be asked where windows are", "worker", h.ID, "error", err)
			return
		}
		byWorker := make(map[string]pane, len(panes))
		for _, p := range panes {
			byWorker[p.worker] = p
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.panes[h.Socket] = byWorker
	})
}

// wait returns when all servers have answered.
func (w *windows) wait() { w.asking.Wait() }

// where says where the window is now, or was when the worker was started.
func (w *windows) where(h handle) swarm.Where {
	if p, ok := w.panes[h.Socket][h.ID]; ok && p.window == h.Window {
		return h.where(p.sessionName, p.windowName)
	}
	return h.where(h.Session, h.Name)
}

// socketOf returns the path of the socket of the server that a keeper was started
// by, as tmux tells those that it starts; empty if the keeper is gone.
func socketOf(keeper proc.Identity) string {
	value, _ := proc.Getenv(keeper.PID, "TMUX")
	if !keeper.Alive() {
		return ""
	}
	socket, _ := splitTMUX(value)
	return socket
}
