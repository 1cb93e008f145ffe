package kill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

// record writes down what came of a batch of workers, in one transaction, takes
// care of their workspaces, and reports them.
func (k *killRun) record(ctx context.Context, batch []killed) {
	// The workers have ended, even if the caller is gone by now.
	rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RecordLimit)
	defer cancel()
	failed := k.commit(rctx, batch)

	var wg sync.WaitGroup
	for _, b := range batch {
		out := &k.outcomes[b.at]
		warned := out.Warnings // of the plugin, before its answer
		*out = outcome(b)
		out.Warnings = append(out.Warnings, warned...)
		if out.Err != nil {
			continue
		}
		if why, ok := k.byShim.Load(b.rec.ID); ok {
			out.Warnings = append(out.Warnings, worker.Warning{Text: fmt.Sprintf(
				"backend '%s' can't be asked, so the shim of '%s' ended it: %s", b.rec.Backend, b.rec.Name, worker.Wording(why.(error)))})
		}
		if failed != nil {
			out.Warnings = append(out.Warnings, worker.Warning{Text: fmt.Sprintf("cannot record the end of '%s': %v", b.rec.Name, failed)})
		}
		if k.req.RemoveWorkspace {
			wg.Go(func() { k.removeAll(ctx, b.rec, out) })
		}
	}
	wg.Wait()
	for _, b := range batch {
		k.known[b.at] = true
	}
	k.report()
}

func (k *killRun) report() {
	for k.reported < len(k.known) && k.known[k.reported] {
		if k.req.Done != nil {
			k.req.Done(k.outcomes[k.reported])
		}
		k.reported++
	}
}

func (k *killRun) commit(ctx context.Context, batch []killed) error {
	var ended []history.Report
	for _, b := range batch {
		switch {
		case b.err != nil:
		case !b.before:
			n := k.History.Report(ctx, b.rec, b.res.Status)
			n.DropsWorkspace = k.req.RemoveWorkspace || k.req.respawn
			n.Killed, n.Respawns, n.Recorded = true, k.req.respawn, k.req.Recorded
			ended = append(ended, n)
		case k.req.Recorded != nil:
			ended = append(ended, history.Report{Record: b.rec, Before: true, Recorded: k.req.Recorded})
		}
	}
	if len(ended) == 0 {
		return nil
	}
	reg, err := k.Store.ToWrite(ctx)
	if err != nil {
		return err
	}
	_, err = k.History.Write(ctx, reg, ended)
	return err
}

func outcome(b killed) Outcome {
	out := Outcome{Result: b.res, Worker: worker.Of(b.rec), AlreadyEnded: b.err == nil && (b.before || b.res.AlreadyEnded)}
	switch {
	case b.before:
	case b.err == nil:
		history.RecordEnd(&b.rec, b.res.Status)
		out.Worker = worker.Of(b.rec)
	default:
		out.Worker.Apply(swarm.StatusResult{Status: b.res.Status})
		out.Worker.Survivors = history.Survivors(b.res)
		out.Err = killError(b)
	}
	return out
}

func killError(b killed) error {
	if errors.Is(b.err, swarm.ErrSurvivors) {
		text := fmt.Sprintf("cannot kill '%s': still alive", b.rec.Name)
		if left := history.Survivors(b.res); len(left) > 0 {
			text += ": " + history.Processes(left)
		}
		err := worker.Errorf(swarm.ErrSurvivors, "%s", text)
		if unproven := b.res.Status.PerhapsAlive; len(unproven) > 0 {
			return worker.WithHint(err, worker.NotProven(b.rec.Name, unproven))
		}
		return err
	}
	if errors.Is(b.err, context.Canceled) {
		return fmt.Errorf("cannot kill '%s': interrupted; it may still be ending: %w", b.rec.Name, b.err)
	}
	return worker.Named(b.err, "cannot kill", b.rec.Name)
}

func (k *killRun) drop(ctx context.Context) {
	if !slices.ContainsFunc(k.recs, func(r registry.Record) bool { return r.IsEphemeral() }) {
		return
	}
	reg, err := k.Store.ToWrite(ctx)
	if err == nil {
		_, err = k.History.DropRunDirs(ctx, reg)
	}
	warn.If(k.Logger, err, "run directories can't be removed")
}

// liveness is what the run directory of a worker that is recorded as running says.
type liveness int

const (
	// unseen: it does not say. Only the worker's backend can.
	unseen liveness = iota
	// seenRunning: its shim is there, and has not recorded an end.
	seenRunning
	// seenEnded: its shim has recorded its end, which is not in the history yet.
	seenEnded
)

func (k *Killer) see(id string) liveness {
	s, err := statedir.ReadStatus(k.Dir.RunDir(id))
	switch {
	case err != nil:
		return unseen
	case s.State == rundir.StateEnded:
		return seenEnded
	case client.IsKept(k.Dir.RunDir(id), s):
		return seenRunning
	default:
		return unseen
	}
}

// request records in the history that the kills of running workers were requested. A worker that
// has ended gets no request: its own end is the next event of the history. A starting worker gets
// its request when the history says that it has started, and one whose run directory does not say
// whether it runs gets it in requestUnseen.
func (k *killRun) request(ctx context.Context, recs []registry.Record) {
	var running []registry.Record
	for _, r := range recs {
		// The caller's own worker runs, and is not asked for.
		self := k.self >= 0 && r.ID == k.recs[k.self].ID
		if r.State == registry.Running && (self || k.see(r.ID) == seenRunning) {
			running = append(running, r)
		}
	}
	k.recordRequests(ctx, running)
}

// requestUnseen is request for those of a backend's workers that request left out,
// and that have not ended, as the backend says. The gate of request is behind them.
func (k *killRun) requestUnseen(ctx context.Context, p *backend.Peer, recs []registry.Record) {
	var open []registry.Record
	var handles []swarm.Handle
	for _, r := range recs {
		if r.State == registry.Running && k.unasked(r.ID) && k.see(r.ID) == unseen {
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
		// A backend that can't say may kill all the same.
		if err != nil || i >= len(results) || results[i].Err != nil || !history.Over(results[i].Status) {
			running = append(running, r)
		}
	}
	// A wait for a locked database can't be broken off.
	recorded := make(chan struct{})
	k.requesting.Go(func() {
		defer close(recorded)
		k.recordRequests(ctx, running)
	})
	select {
	case <-recorded:
	case <-limited.Done():
	}
}

// unasked reports whether the history does not say yet that the kill of a worker was
// requested. It reports that once: a kill in which the plugin ends is repeated.
func (k *killRun) unasked(id string) bool {
	_, asked := k.asked.LoadOrStore(id, true)
	return !asked
}

// recordRequests writes that the kills of workers were asked for.
func (k *killRun) recordRequests(ctx context.Context, recs []registry.Record) {
	if len(recs) == 0 {
		return
	}
	now := time.Now()
	events := make([]registry.Event, len(recs))
	for i, r := range recs {
		k.asked.Store(r.ID, true)
		events[i] = history.NewEvent(&r, history.KillRequested, "", now)
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	err := k.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		_, err := tx.Append(ctx, events...)
		return err
	})
	warn.If(k.Logger, err, "the history can't be written")
}
