package agent

import (
	"context"
	"errors"
	"io/fs"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
)

// CallerTeam returns the team that the caller is of: that of the agent it is, else
// the one that it leads from inside a worker. It is empty for a person, and where
// there is none or more than one.
func CallerTeam(ctx context.Context, h *host.Host) (name string, err error) {
	caller, err := h.Caller(ctx)
	if err != nil || caller.Team != "" || caller.WorkerID == "" {
		return caller.Team, err
	}
	err = h.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		teams, _, err := tx.Teams(ctx)
		led := 0
		for _, t := range teams {
			if t.LeaderWorker == caller.WorkerID {
				name = t.Name
				led++
			}
		}
		if led > 1 {
			name = ""
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return name, err
}
