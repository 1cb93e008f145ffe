package process

import (
	"context"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Status returns the status of the worker.
func (b *Backend) Status(_ context.Context, raw swarm.Handle) (swarm.Status, error) {
	return status(new(shim.Look), raw)
}

// StatusBatch reads the processes of the machine once for all workers.
func (b *Backend) StatusBatch(ctx context.Context, raws []swarm.Handle) ([]swarm.StatusResult, error) {
	look := new(shim.Look)
	results := make([]swarm.StatusResult, len(raws))
	for i, raw := range raws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		results[i].Status, results[i].Err = status(look, raw)
	}
	return results, nil
}

func status(look *shim.Look, raw swarm.Handle) (swarm.Status, error) {
	h, err := decode(raw)
	if err != nil {
		return swarm.Status{}, err
	}
	return look.Status(h.Dir, h.ID)
}

// Kill ends the worker, with SIGTERM if no signal was asked for.
func (b *Backend) Kill(ctx context.Context, raw swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	h, err := decode(raw)
	if err != nil {
		return swarm.KillResult{}, err
	}
	return shim.Kill(ctx, h.Dir, h.ID, o)
}

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

func encode(id, dir string) (swarm.Handle, error) {
	return shim.EncodeHandle(handleVersion, shim.Worker{ID: id, Dir: dir})
}

func decode(raw swarm.Handle) (shim.Worker, error) {
	return shim.DecodeHandle[shim.Worker](raw, handleVersion)
}
