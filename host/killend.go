package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/plugin"
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
		if b.err == nil && !b.before {
			n := k.h.newsOf(ctx, b.rec, b.res.Status)
			n.dropsWorkspace = k.req.RemoveWorkspace || k.req.respawn
			ended = append(ended, n)
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
		out.Worker.Survivors = b.res.Survivors
		out.Err = killError(b)
	}
	return out
}

// killError names the worker in an error of its kill.
func killError(b killed) error {
	if errors.Is(b.err, swarm.ErrSurvivors) {
		return &survivorsError{name: b.rec.Name, survivors: b.res.Survivors}
	}
	if errors.Is(b.err, context.Canceled) {
		return fmt.Errorf("cannot kill '%s': interrupted; it may still be ending: %w", b.rec.Name, b.err)
	}
	return fmt.Errorf("cannot kill '%s': %w", b.rec.Name, b.err)
}

// sweep lets the backends of the killed workers drop what nobody uses any more.
func (k *killing) sweep(ctx context.Context) {
	ended := k.h.groups(k.recs, func(r registry.Record) bool {
		at := k.place(r.ID)
		return isRunning(r) && k.known[at] && k.outcomes[at].Err == nil
	})
	var mu sync.Mutex
	var warnings []Warning
	each(ended, func(g *group) {
		lines, err := k.h.sweep(ctx, g)
		if err != nil {
			lines = append(lines, fmt.Sprintf("cannot clean up after the workers of backend '%s': %v", g.name, err))
		}
		mu.Lock()
		defer mu.Unlock()
		for _, l := range lines {
			warnings = append(warnings, Warning{Text: strings.TrimSpace(l)})
		}
	})
	for _, w := range warnings {
		k.warn(w)
	}
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

// sweep asks the backend of workers that have ended to drop what they shared.
func (h *Host) sweep(ctx context.Context, ended *group) (warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	if ended.err != nil {
		return nil, nil // then nothing of it has ended either
	}
	err = h.askBackend(ctx, ended.entry, true, func(p *peer) error {
		if !p.Has(swarm.CapSweep) {
			return nil
		}
		reg, err := h.reading(ctx)
		if err != nil || reg == nil {
			return err
		}
		recs, _, err := reg.Read(ctx, registry.Query{State: registry.Running, Backend: ended.name})
		if err != nil {
			return err
		}
		others := &group{name: ended.name, entry: ended.entry}
		for _, r := range recs {
			if indexID(ended.recs, r.ID) < 0 {
				others.recs = append(others.recs, r)
			}
		}
		running, err := h.stillRunning(ctx, p, others)
		if err != nil {
			return err
		}
		warnings, err = p.backend.Sweep(ctx, ended.handles(), running)
		return err
	})
	return warnings, err
}

// stillRunning returns the handles of the workers that may be alive.
func (h *Host) stillRunning(ctx context.Context, p *peer, g *group) ([]swarm.Handle, error) {
	if len(g.recs) == 0 {
		return nil, nil
	}
	results, err := p.backend.StatusBatch(ctx, g.handles())
	if err != nil {
		return nil, err
	}
	var running []swarm.Handle
	for i, r := range results {
		ended := r.Err == nil && (r.Status.State == swarm.StateExited || r.Status.State == swarm.StateLost && len(r.Status.Survivors) == 0)
		if !ended {
			running = append(running, g.recs[i].Handle)
		}
	}
	return running, nil
}

// finish answers, and then ends the worker that the caller itself runs in.
func (k *killing) finish(ctx context.Context) ([]KillOutcome, error) {
	if k.self < 0 {
		k.answer()
		return k.outcomes, nil
	}
	rec := k.recs[k.self]
	out := &k.outcomes[k.self]
	var err error
	if rec.State == registry.Starting {
		if rec, err = k.h.settled(ctx, rec); err == nil {
			k.request(ctx, []registry.Record{rec})
		}
	}
	*out = KillOutcome{Worker: worker(rec)}
	var e catalog.Entry
	if err == nil {
		e, err = k.h.entry(rec.Backend, rec.Plugin)
	}
	if err == nil {
		// It must not be found out after the answer that the plugin can't start.
		err = k.h.askBackend(ctx, e, false, func(*peer) error { return nil })
	}
	if err == nil {
		err = k.markKilling(ctx, rec.ID)
	}
	if err != nil {
		out.Err = fmt.Errorf("cannot kill '%s': %w", rec.Name, err)
	} else if k.req.RemoveWorkspace && rec.Workspace != nil {
		out.Warnings = append(out.Warnings, Warning{
			Text: fmt.Sprintf("cannot remove worktree for '%s': this command runs in it", rec.Name),
			Hint: fmt.Sprintf("run 'swarm clean %s' from elsewhere to remove it", rec.Name),
		})
	}
	if out.Err == nil && k.req.RemoveWorkspace && rec.Ralph {
		k.removeLoop(ctx, rec, out)
	}
	k.known[k.self] = true
	k.report()
	k.answer()
	if out.Err != nil {
		return k.outcomes, nil
	}
	opts := k.req.options(rec.Kill)
	opts.Detach = true
	item := plugin.KillItem{Handle: rec.Handle, Options: opts}
	limited, cancel := context.WithTimeout(ctx, killMargin)
	defer cancel()
	err = k.h.askBackend(limited, e, true, func(p *peer) error {
		return killBatch(limited, p, []plugin.KillItem{item}, []bool{false}, func(_ int, res swarm.KillResult, err error) {
			out.Result = res
			out.Err = err
		})
	})
	if err == nil {
		err = out.Err
	}
	// The plugin runs in this worker too, and so ends with it.
	if err != nil && !errors.Is(err, plugin.ErrPluginGone) {
		return k.outcomes, fmt.Errorf("cannot kill '%s': %w", rec.Name, err)
	}
	return k.outcomes, nil
}

// markKilling records that a worker was told to end. That it ended will be seen
// by the next who looks.
func (k *killing) markKilling(ctx context.Context, id string) error {
	reg, err := k.h.writing(ctx)
	if err != nil {
		return err
	}
	return k.h.save(ctx, reg, id, func(r *registry.Record) { r.Step = registry.StepKilling })
}

func (k *killing) answer() {
	if k.req.Answer != nil {
		k.req.Answer(k.outcomes)
	}
}
