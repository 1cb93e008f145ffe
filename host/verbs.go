package host

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/host/worker"
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

// Fallen returns those of the selected workers that ran until the machine went down, see
// [spawn.Spawner.Fallen].
func (h *Host) Fallen(ctx context.Context, sel Selection) ([]Fallen, error) {
	reg, err := h.store.Reading(ctx)
	if err != nil {
		return nil, err
	}
	recs, _, err := store.Select(ctx, reg, sel.Names, sel.Tag)
	if err != nil {
		return nil, err
	}
	return h.spawner().Fallen(ctx, reg, recs)
}

// Resurrect starts those of the selected workers again that ran until the machine went
// down, see [spawn.Spawner.Resurrect].
func (h *Host) Resurrect(ctx context.Context, sel Selection, req ResurrectRequest) ([]Resurrection, error) {
	return h.spawner().Resurrect(ctx, sel, req)
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
	recs, _, err := h.roster.Pick(ctx, Selection{Names: []string{name}})
	if err != nil {
		return Worker{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		if rec, err = h.settler.Settled(ctx, rec); err != nil {
			return Worker{}, err
		}
	}
	return h.roster.Observe(ctx, []registry.Record{rec})[0], nil
}

// Declared returns the workers that the config file of a project declared when they were
// spawned, as they are recorded: no backend is asked how they are.
func (h *Host) Declared(ctx context.Context, project string) ([]Worker, error) {
	recs, _, err := h.roster.See(ctx, Selection{All: true})
	if err != nil {
		return nil, err
	}
	var ws []Worker
	for _, r := range recs {
		if r.Project == project {
			ws = append(ws, worker.Of(r))
		}
	}
	return ws, nil
}

// CheckName returns an error if a worker can't have that name.
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

// Kill ends the selected workers, see [kill.Killer.Kill].
func (h *Host) Kill(ctx context.Context, sel Selection, req KillRequest) ([]KillOutcome, error) {
	return h.killer().Kill(ctx, sel, req)
}

// Clean removes what stopped workers have left, see [kill.Killer.Clean].
func (h *Host) Clean(ctx context.Context, sel Selection, req CleanRequest) ([]CleanOutcome, error) {
	return h.killer().Clean(ctx, sel, req)
}

// Send gives an input to the selected workers, see [input.Sender.Send].
func (h *Host) Send(ctx context.Context, sel Selection, in swarm.Input) ([]SendOutcome, error) {
	return h.input().Send(ctx, sel, in)
}

// Deliver gives a text to the selected workers, see [input.Sender.Deliver].
func (h *Host) Deliver(ctx context.Context, sel Selection, req DeliverRequest) ([]SendOutcome, error) {
	return h.input().Deliver(ctx, sel, req)
}

// Answer picks a choice of the dialog that a worker's agent shows, see
// [input.Sender.Answer].
func (h *Host) Answer(ctx context.Context, name string, r deliver.Reply) (deliver.Answered, error) {
	return h.input().Answer(ctx, name, r)
}

// Press presses keys of the selected workers, see [input.Sender.Press].
func (h *Host) Press(ctx context.Context, sel Selection, req KeysRequest) ([]SendOutcome, error) {
	return h.input().Press(ctx, sel, req)
}

// Signal sends a running worker a signal that is not meant to end it, see
// [input.Sender.Signal].
func (h *Host) Signal(ctx context.Context, name string, req SignalRequest) (Worker, error) {
	return h.input().Signal(ctx, name, req)
}

// Pause stops all processes of the selected workers, or lets them go on, see
// [input.Sender.Pause].
func (h *Host) Pause(ctx context.Context, sel Selection, paused bool) ([]BoundsOutcome, error) {
	return h.input().Pause(ctx, sel, paused)
}

// SetLimits changes the limits of the selected workers, see [input.Sender.SetLimits].
func (h *Host) SetLimits(ctx context.Context, sel Selection, change func(*swarm.Limits)) ([]BoundsOutcome, error) {
	return h.input().SetLimits(ctx, sel, change)
}

// Attach returns the program that connects a person's terminal with a running worker,
// see [input.Sender.Attach].
func (h *Host) Attach(ctx context.Context, name string) (swarm.Attachment, error) {
	return h.input().Attach(ctx, name)
}

// Collect does once what [Host.Watch] does as it goes, see [watch.Watcher.Collect].
func (h *Host) Collect(ctx context.Context) (watch.Collected, error) { return h.watcher().Collect(ctx) }

// RemoveEvents removes the events that happened before a time from the history, see
// [registry.Registry.RemoveEvents].
func (h *Host) RemoveEvents(ctx context.Context, before time.Time) (removed int, err error) {
	reg, err := h.store.Changing(ctx)
	if err != nil || reg == nil {
		return 0, err
	}
	return h.history.RemoveEvents(ctx, reg, before)
}

// Watch records the ends of workers as they happen, see [watch.Watcher.Watch].
func (h *Host) Watch(ctx context.Context, req watch.Request) error {
	return h.watcher().Watch(ctx, req)
}

func (h *Host) killDisowned(ctx context.Context, r registry.Record) (killed bool, err error) {
	outs, err := h.Kill(ctx, Selection{Names: []string{r.ID}}, KillRequest{Allowed: true})
	for _, out := range outs {
		if err = out.Err; err == nil && !out.Result.AlreadyEnded {
			killed = true
		}
	}
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return killed, err
}
