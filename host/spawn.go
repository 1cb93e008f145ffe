package host

import (
	"context"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Spawn starts a worker and returns it running, see [spawn.Spawner.Spawn].
func (h *Host) Spawn(ctx context.Context, req SpawnRequest) (Worker, error) {
	return h.spawner().Spawn(ctx, req)
}

// Respawn starts a worker again as it was spawned, see [spawn.Spawner.Respawn].
func (h *Host) Respawn(ctx context.Context, name string, req RespawnRequest) (Worker, error) {
	return h.spawner().Respawn(ctx, name, req)
}

// Adopt enters workers into the registry that a backend finds in its engine, see
// [spawn.Spawner.Adopt].
func (h *Host) Adopt(ctx context.Context, req AdoptRequest) ([]AdoptOutcome, []Warning, error) {
	return h.spawner().Adopt(ctx, req)
}

// Settled returns a worker as it is once the spawn of it, if one is under way in
// another process, is over. A worker whose spawn failed is an [ErrNotFound], as
// one that never was.
func (h *Host) Settled(ctx context.Context, name string) (Worker, error) {
	recs, _, err := h.chooseNamed(ctx, Selection{Names: []string{name}})
	if err != nil {
		return Worker{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		if rec, err = h.spawner().Settled(ctx, rec); err != nil {
			return Worker{}, err
		}
	}
	return h.observe(ctx, []registry.Record{rec})[0], nil
}

// settled returns the record of a worker that was starting once its spawn is over.
func (h *Host) settled(ctx context.Context, rec registry.Record) (registry.Record, error) {
	return h.spawner().Settled(ctx, rec)
}

// CheckName says why a worker can't have that name; nil: it can.
func CheckName(name string) error { return spawn.CheckName(name) }

// OwnerOf names a process of this machine as the owner of workers: when it ends,
// they are killed.
func OwnerOf(pid int) (swarm.Owner, error) { return spawn.OwnerOf(pid) }

// RunsHere reports whether a backend runs its workers on this machine.
func (h *Host) RunsHere(ctx context.Context, name string) (here bool, err error) {
	e, err := h.catalog.Find(name)
	if err != nil {
		return false, err
	}
	err = h.plugins.AskBackend(ctx, e, true, func(p *backend.Peer) error {
		here = p.Local
		return nil
	})
	return here, err
}
