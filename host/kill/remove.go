package kill

import (
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

const hintForce = "use --force-dirty to remove anyway"

func (k *killRun) removeAll(ctx context.Context, rec registry.Record, out *Outcome) {
	if rec.Workspace != nil {
		k.removeWorkspace(ctx, rec, out)
	}
	if rec.Ralph {
		k.removeLoop(ctx, rec, out)
	}
}

// removeLoop removes the state of a ralph worker's loop, so that a worker of this
// name begins anew. An error becomes a warning.
func (k *killRun) removeLoop(ctx context.Context, rec registry.Record, out *Outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RecordLimit)
	defer cancel()
	if _, err := ralph.NewStore(string(k.Dir)).Remove(ctx, rec.Name); err != nil {
		out.Warnings = append(out.Warnings, worker.Warning{Text: fmt.Sprintf("cannot remove ralph state for '%s': %v", rec.Name, err)})
	}
}

// removeWorkspace removes the workspace of a worker that was killed. Whatever
// goes wrong is a warning.
func (k *killRun) removeWorkspace(ctx context.Context, rec registry.Record, out *Outcome) {
	unlock, err := k.Dir.Lock(ctx, rec.ID)
	if err != nil {
		out.Warnings = append(out.Warnings, cannotRemove(rec.Name, err.Error()))
		return
	}
	defer unlock()
	res, err := k.RemoveWorkspace(swarm.WithWarnings(ctx, out.warnedOf(rec.Name)), &rec, k.req.ForceDirty)
	out.Notices = append(out.Notices, Rescued(rec.Name, res.Rescues)...)
	out.Notices = append(out.Notices, strayed(&rec, res)...)
	switch {
	case err != nil:
		w := cannotRemove(rec.Name, err.Error())
		if rec.Workspace.Host != "" {
			w.Hint = "the workspace stays: " + rec.Workspace.Location()
		}
		out.Warnings = append(out.Warnings, w)
		k.recordKept(ctx, &rec, err.Error())
	case res.Kept != nil:
		w := cannotRemove(rec.Name, res.Kept.Reason)
		if res.Kept.Forceable {
			w.Hint = hintForce
		}
		out.Warnings = append(out.Warnings, w)
		k.recordKept(ctx, &rec, res.Kept.Reason)
	default:
		out.WorkspaceRemoved = true
		out.Worker.Workspace = nil
		if err := k.forgetWorkspace(ctx, rec.ID); err != nil {
			out.Warnings = append(out.Warnings, worker.Warning{Text: fmt.Sprintf("cannot record the removal of the workspace for '%s': %v", rec.Name, err)})
		}
	}
}

// recordKept records the place of a workspace whose worker's record is gone.
func (k *killRun) recordKept(ctx context.Context, rec *registry.Record, reason string) {
	if !rec.IsEphemeral() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RecordLimit)
	defer cancel()
	err := k.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		_, err := tx.Append(ctx, history.NewEvent(rec, history.Kept, keptAt(rec, reason), time.Now()))
		return err
	})
	warn.If(k.Logger, err, "the history can't be written", "worker", rec.Name)
}

func (k *Killer) forgetWorkspace(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RecordLimit)
	defer cancel()
	return registry.IgnoreNotFound(k.Store.Edit(ctx, id, func(r *registry.Record) { r.Workspace, r.Removing = nil, false }))
}

func cannotRemove(name, reason string) worker.Warning {
	return worker.Warning{Text: fmt.Sprintf("cannot remove worktree for '%s': %s", name, reason)}
}

// Rescued reports where the work from a workspace was saved.
func Rescued(name string, rescues []swarm.Rescue) []string {
	var lines []string
	for _, r := range rescues {
		lines = append(lines, fmt.Sprintf("saved work of '%s' as %s; bring it back with: %s", name, r.Ref, r.Command))
	}
	return lines
}
