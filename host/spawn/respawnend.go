package spawn

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// restore puts back the record that an interrupted respawn, whose lock the caller
// holds, was to replace. A workspace that was made for it is the old worker's if
// that has none.
func (s *Spawner) restore(ctx context.Context, reg *registry.Registry, rec *registry.Record, made *swarm.WorkspaceRef) error {
	old := rec.Replaces
	events := []registry.Event{history.NewEvent(old, history.RespawnFailed, history.ReasonInterrupted, time.Now())}
	switch {
	case made == nil:
	case old.Workspace == nil || isMissing(old.Workspace):
		old.Workspace, old.Dir = made, dirIn(old.Ask, made)
	case old.Workspace.Location() != made.Location():
		events = append(events, history.NewEvent(old, history.Kept, made.Location(), time.Now()))
	}
	err := reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		if err := errors.Join(putBack(ctx, tx, rec, old.ID, old), tx.Leave(ctx, rec.ID)); err != nil {
			return err
		}
		_, err := tx.Append(ctx, events...)
		return err
	})
	if err != nil {
		return err
	}
	_, err = s.opts.History.DropRunDirs(ctx, reg, rec.ID)
	s.warnIf(err, "run directories can't be removed")
	return nil
}

// fromInside has another process finish the respawn of the worker that the caller
// runs in, which would end with it.
func (r *respawning) fromInside(ctx context.Context) (worker.Worker, error) {
	w := r.opts.Observe(ctx, []registry.Record{r.old})[0]
	if r.req.As != nil || len(r.req.Helper) == 0 {
		return w, worker.Invalid("this has to be done from elsewhere")
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), r.opts.Executable, append(r.req.Helper, r.old.ID)...)
	cmd.Dir = "/" // not in a workspace that may have to go
	// The mark keeps it out of the worker: shims recognise it by that and by what it
	// runs, see [rundir.IsHelper].
	cmd.Env = append(HostEnv(r.opts.Env), swarm.EnvDir+"="+string(r.opts.Dir), swarm.EnvShim+"="+rundir.RespawnMark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Nothing is written to it; its end, which comes with that of this process at the
	// latest, says that the caller has its answer.
	begin, err := cmd.StdinPipe()
	if err != nil {
		return w, err
	}
	if err := cmd.Start(); err != nil {
		return w, err
	}
	if r.req.Answer != nil {
		r.req.Answer(w)
	}
	if err := begin.Close(); err != nil {
		return w, err
	}
	return w, cmd.Process.Release()
}

func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
