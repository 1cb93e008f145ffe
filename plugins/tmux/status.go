package tmux

import (
	"context"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *Backend) Status(ctx context.Context, raw swarm.Handle) (swarm.Status, error) {
	results, err := b.StatusBatch(ctx, []swarm.Handle{raw})
	if err != nil {
		return swarm.Status{}, err
	}
	return results[0].Status, results[0].Err
}

// StatusBatch reads the processes of the machine once, and queries each tmux server once.
func (b *Backend) StatusBatch(ctx context.Context, raws []swarm.Handle) ([]swarm.StatusResult, error) {
	look := new(client.Look)
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	seen := make(map[string]*query)
	results := make([]swarm.StatusResult, len(raws))
	handles := make([]handle, len(raws))
	for i, raw := range raws {
		r := &results[i]
		if handles[i], r.Err = b.handle(ctx, raw); r.Err != nil {
			continue
		}
		h := handles[i]
		r.Status, r.Err = look.Status(h.Dir, h.ID)
		if r.Status.State != swarm.StateRunning || h.Pane == "" || b.queries.wasJustOpened(h.ID) {
			continue
		}
		if seen[h.Socket] == nil {
			seen[h.Socket] = b.queries.of(ctx, h)
		}
	}
	for i, h := range handles {
		switch {
		case results[i].Err != nil:
		case results[i].Status.State == swarm.StateRunning:
			where := seen[h.Socket].where(ctx, h)
			if where.Name == "" {
				// The worker may have ended, and its window with it, between the two
				// queries.
				if now, err := new(client.Look).Status(h.Dir, h.ID); err == nil && now.State != swarm.StateRunning {
					results[i].Status, where = now, h.where(h.Session, h.Name)
				}
			}
			results[i].Status.Where = where
		default:
			results[i].Status.Where = h.where(h.Session, h.Name)
		}
	}
	return results, nil
}

// socketOf returns the path of the socket of the server that started a shim, from the
// shim's environment; empty if the shim is gone.
func socketOf(shimProc proc.Identity) string {
	value, _ := proc.Getenv(shimProc.PID, "TMUX")
	if !shimProc.Alive() {
		return ""
	}
	socket, _ := splitTMUX(value)
	return socket
}
