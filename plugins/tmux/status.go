package tmux

import (
	"context"
	"strings"
	"sync"

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
	results := make([]swarm.StatusResult, len(raws))
	handles := make([]handle, len(raws))
	servers := make(map[string]server)
	for i, raw := range raws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := &results[i]
		if handles[i], r.Err = decode(raw); r.Err != nil {
			continue
		}
		h := handles[i]
		r.Status, r.Err = look.Status(h.Dir, h.ID)
		if r.Status.State == swarm.StateRunning && h.Window != "" {
			servers[h.Socket] = h.server()
		}
	}
	windows := b.windows(ctx, servers)
	for i, h := range handles {
		if results[i].Err != nil {
			continue
		}
		results[i].Status.Where = h.where(h.Session, h.Name)
		if p, ok := windows[h.Socket][h.ID]; ok && p.window == h.Window {
			results[i].Status.Where = h.where(p.sessionName, p.windowName)
		}
	}
	return results, nil
}

// windows returns a pane of each worker's window, by socket and worker. A server
// that can't be asked has none: where windows are is not worth an error.
func (b *Backend) windows(ctx context.Context, servers map[string]server) map[string]map[string]pane {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	var mu sync.Mutex
	all := make(map[string]map[string]pane)
	var asked sync.WaitGroup
	for socket, srv := range servers {
		asked.Go(func() {
			panes, err := srv.panes(ctx)
			if err != nil {
				b.log.Debug("tmux can't be asked where windows are", "error", err)
				return
			}
			byWorker := make(map[string]pane, len(panes))
			for _, p := range panes {
				byWorker[p.worker] = p
			}
			mu.Lock()
			defer mu.Unlock()
			all[socket] = byWorker
		})
	}
	asked.Wait()
	return all
}

// socketOf returns the path of the socket of the server that a keeper was started
// by, as tmux tells those that it starts; empty if the keeper is gone.
func socketOf(keeper proc.Identity) string {
	value, _ := proc.Getenv(keeper.PID, "TMUX")
	if !keeper.Alive() {
		return ""
	}
	// "<socket>,<pid of the server>,<session>"
	for range 2 {
		if i := strings.LastIndexByte(value, ','); i >= 0 {
			value = value[:i]
		}
	}
	return value
}
