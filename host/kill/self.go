package kill

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin/client"
	shimclient "github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// finish answers, and then ends the worker that the caller itself runs in.
func (k *killRun) finish(ctx context.Context) ([]Outcome, error) {
	if k.self < 0 {
		k.answer()
		return k.outcomes, nil
	}
	out := &k.outcomes[k.self]
	rec, e, err := k.prepareSelf(ctx)
	*out = Outcome{Worker: worker.Of(rec)}
	if err != nil {
		out.Err = fmt.Errorf("cannot kill '%s': %w", rec.Name, err)
	} else if k.req.RemoveWorkspace {
		k.removeOwn(ctx, rec, out)
	}
	k.known[k.self] = true
	k.report()
	k.answer()
	if out.Err != nil {
		return k.outcomes, nil //nolint:nilerr // it is reported with its outcome
	}
	return k.outcomes, k.killSelf(ctx, rec, e, out)
}

// removeOwn removes what can go while the caller's own worker still runs.
func (k *killRun) removeOwn(ctx context.Context, rec registry.Record, out *Outcome) {
	if rec.Workspace != nil {
		out.Warnings = append(out.Warnings, worker.Warning{
			Text: fmt.Sprintf("cannot remove worktree for '%s': this command runs in it", rec.Name),
			Hint: fmt.Sprintf("run 'swarm clean %s' from elsewhere to remove it", rec.Name),
		})
	}
	if rec.Ralph {
		k.removeLoop(ctx, rec, out)
	}
}

// prepareSelf finds out all that could keep the caller's own worker from being
// ended: after the answer the caller can't learn of it.
func (k *killRun) prepareSelf(ctx context.Context) (rec registry.Record, e catalog.Entry, err error) {
	rec = k.recs[k.self]
	if rec.State == registry.Starting {
		if rec, err = k.Settler.Settled(ctx, rec); err != nil {
			return rec, e, err
		}
		k.request(ctx, []registry.Record{rec})
	}
	asked := false
	if e, err = k.Plugins.Entry(rec.Backend, rec.Plugin); err == nil {
		err = k.Plugins.AskBackend(ctx, e, false, func(*backend.Peer) error {
			asked = true
			return nil
		})
	}
	if err != nil && (!isMute(ctx, err, asked) || !k.hasShim(rec.ID)) {
		return rec, e, err
	}
	// The end will be seen by the next call that looks.
	return rec, e, k.Store.Edit(ctx, rec.ID, func(r *registry.Record) { r.Step = registry.StepKilling })
}

// killSelf has the backend end the worker that the caller runs in, and may not
// return.
func (k *killRun) killSelf(ctx context.Context, rec registry.Record, e catalog.Entry, out *Outcome) error {
	opts := k.req.options(rec.Kill)
	opts.Detach = true
	item := client.KillItem{Handle: rec.Handle, Options: opts, Warn: out.warnedOf(rec.Name)}
	limited, cancel := k.Plugins.Within(ctx, rec.Backend, killMargin)
	defer cancel()
	asked := false
	err := k.Plugins.AskBackend(limited, e, true, func(p *backend.Peer) error {
		asked = true
		return killBatch(limited, p, []client.KillItem{item}, []bool{false}, func(_ int, res swarm.KillResult, err error) {
			out.Result = res
			out.Err = err
		})
	})
	if err == nil {
		err = out.Err
	}
	if isMute(ctx, err, asked) && k.hasShim(rec.ID) {
		out.Result, err = shimclient.Kill(limited, k.Dir.RunDir(rec.ID), rec.ID, opts)
		out.Err = err
	}
	// The plugin runs in this worker too, and so ends with it.
	if err != nil && !errors.Is(err, client.ErrPluginGone) {
		return fmt.Errorf("cannot kill '%s': %w", rec.Name, err)
	}
	return nil
}

func (k *killRun) answer() {
	if k.req.Answer != nil {
		k.req.Answer(k.outcomes)
	}
}
