package host

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// sight is what the run directory of a worker that is recorded as running says.
type sight int

const (
	// unseen: it does not say. Only the worker's backend can.
	unseen sight = iota
	// seenRunning: its shim is there, and has not recorded an end.
	seenRunning
	// seenEnded: its shim has recorded its end, which is not in the history yet.
	seenEnded
)

// see looks into the run directory of a worker.
func (h *Host) see(id string) sight {
	s, err := statedir.ReadStatus(h.dir.RunDir(id))
	switch {
	case err != nil:
		return unseen
	case s.State == rundir.StateEnded:
		return seenEnded
	case shim.IsKept(h.dir.RunDir(id), s):
		return seenRunning
	default:
		return unseen
	}
}

// request tells in the history that the kills of those that run were asked for. A
// worker that has ended gets no request: its own end is the next that the history
// tells. Those that are starting have their turn when the history tells that they
// did, those whose run directory does not say in requestUnseen.
func (k *killing) request(ctx context.Context, recs []registry.Record) {
	var running []registry.Record
	for _, r := range recs {
		// The caller's own worker runs, and is not asked for.
		self := k.self >= 0 && r.ID == k.recs[k.self].ID
		if r.State == registry.Running && (self || k.h.see(r.ID) == seenRunning) {
			running = append(running, r)
		}
	}
	k.tellRequests(ctx, running)
}

// requestUnseen is request for those of a backend's workers that request left out,
// and that have not ended, as the backend says. The gate of request is behind them.
func (k *killing) requestUnseen(ctx context.Context, p *backend.Peer, recs []registry.Record) {
	var open []registry.Record
	var handles []swarm.Handle
	for _, r := range recs {
		if r.State == registry.Running && k.unasked(r.ID) && k.h.see(r.ID) == unseen {
			open, handles = append(open, r), append(handles, r.Handle)
		}
	}
	if len(open) == 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	results, err := p.Backend.StatusBatch(limited, handles)
	var running []registry.Record
	for i, r := range open {
		// A backend that can't tell may kill all the same.
		if err != nil || i >= len(results) || results[i].Err != nil || !over(results[i].Status) {
			running = append(running, r)
		}
	}
	// Who waits for a locked database can't be called back.
	told := make(chan struct{})
	k.telling.Go(func() {
		defer close(told)
		k.tellRequests(ctx, running)
	})
	select {
	case <-told:
	case <-limited.Done():
	}
}

// unasked reports whether the history does not tell yet that the kill of a worker was
// asked for, and from now on takes it for told. A plugin may end in a kill, which is
// then repeated.
func (k *killing) unasked(id string) bool {
	_, asked := k.asked.LoadOrStore(id, true)
	return !asked
}

// tellRequests writes that the kills of workers were asked for.
func (k *killing) tellRequests(ctx context.Context, recs []registry.Record) {
	if len(recs) == 0 {
		return
	}
	now := time.Now()
	events := make([]registry.Event, len(recs))
	for i, r := range recs {
		k.asked.Store(r.ID, true)
		events[i] = newEvent(&r, EventKillRequested, "", now)
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	reg, err := k.h.writing(ctx)
	if err == nil {
		err = reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
			_, err := tx.Append(ctx, events...)
			return err
		})
	}
	k.h.warnIf(err, "the history can't be written")
}
