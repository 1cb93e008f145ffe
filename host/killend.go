package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// record writes down what came of a batch of workers, in one transaction, sees
// to their workspaces, and reports them.
func (k *killing) record(ctx context.Context, batch []killed) {
	// What happened has happened, even if the caller is gone by now.
	rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	failed := k.commit(rctx, batch)

	var wg sync.WaitGroup
	for _, b := range batch {
		out := &k.outcomes[b.at]
		*out = outcome(b)
		if out.Err != nil {
			continue
		}
		if failed != nil {
			out.Warnings = append(out.Warnings, Warning{Text: fmt.Sprintf("cannot record the end of '%s': %v", b.rec.Name, failed)})
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

// report gives to Done what is known of those whose turn it is.
func (k *killing) report() {
	for k.told < len(k.known) && k.known[k.told] {
		if k.req.Done != nil {
			k.req.Done(k.outcomes[k.told])
		}
		k.told++
	}
}

// commit records the ends of a batch.
func (k *killing) commit(ctx context.Context, batch []killed) error {
	var ended []news
	for _, b := range batch {
		switch {
		case b.err != nil:
		case !b.before:
			n := k.h.newsOf(ctx, b.rec, b.res.Status)
			n.dropsWorkspace = k.req.RemoveWorkspace || k.req.respawn
			n.killed, n.respawns, n.recorded = true, k.req.respawn, k.req.Recorded
			ended = append(ended, n)
		case k.req.Recorded != nil:
			ended = append(ended, news{rec: b.rec, before: true, recorded: k.req.Recorded})
		}
	}
	if len(ended) == 0 {
		return nil
	}
	reg, err := k.h.writing(ctx)
	if err != nil {
		return err
	}
	_, err = k.h.publish(ctx, reg, ended)
	return err
}

// confirmed returns nil if a backend that returned no error for a kill says that
// nothing of the worker is left. An end is never inferred from silence.
func confirmed(backend string, res swarm.KillResult) error {
	s := res.Status
	switch {
	case len(survivors(res)) > 0:
		return swarm.ErrSurvivors
	case over(s):
		return nil
	case s.State == swarm.StateRunning:
		return fmt.Errorf("backend '%s' says that the worker is still running", backend)
	case s.Reason != "":
		return fmt.Errorf("backend '%s' did not confirm that the worker has ended: %s", backend, line(s.Reason))
	default:
		return fmt.Errorf("backend '%s' did not confirm that the worker has ended", backend)
	}
}

// survivors returns the processes that a backend named after a kill.
func survivors(res swarm.KillResult) []swarm.Process {
	if len(res.Survivors) > 0 {
		return res.Survivors
	}
	return res.Status.Survivors
}

// outcome says what came of one worker.
func outcome(b killed) KillOutcome {
	out := KillOutcome{Result: b.res, Worker: worker(b.rec)}
	switch {
	case b.before:
	case b.err == nil:
		rec := b.rec
		recordEnd(&rec, b.res.Status)
		out.Worker = worker(rec)
	default:
		apply(&out.Worker, swarm.StatusResult{Status: b.res.Status})
		out.Worker.Survivors = survivors(b.res)
		out.Err = killError(b)
	}
	return out
}

// killError names the worker in an error of its kill.
func killError(b killed) error {
	if errors.Is(b.err, swarm.ErrSurvivors) {
		return &survivorsError{name: b.rec.Name, survivors: survivors(b.res)}
	}
	if errors.Is(b.err, context.Canceled) {
		return fmt.Errorf("cannot kill '%s': interrupted; it may still be ending: %w", b.rec.Name, b.err)
	}
	return &namedError{error: b.err, subject: fmt.Sprintf("cannot kill '%s'", b.rec.Name)}
}

// drop removes the run directories of ephemeral workers.
func (k *killing) drop(ctx context.Context) {
	if !slices.ContainsFunc(k.recs, func(r registry.Record) bool { return isEphemeral(&r) }) {
		return
	}
	reg, err := k.h.writing(ctx)
	if err == nil {
		_, err = k.h.dropRunDirs(ctx, reg)
	}
	k.h.warnIf(err, "run directories can't be removed")
}
