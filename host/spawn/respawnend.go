package spawn

import (
	"context"
	"os/exec"
	"syscall"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// fromInside has another process finish the respawn of the worker that the caller
// runs in, which would end with it.
func (r *respawnRun) fromInside(ctx context.Context) (worker.Worker, error) {
	w := r.opts.Roster.Observe(ctx, []registry.Record{r.old})[0]
	if r.req.As != nil || len(r.req.Helper) == 0 {
		return w, worker.Invalid("this has to be done from elsewhere")
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), r.opts.Executable, append(r.req.Helper, r.old.ID)...)
	cmd.Dir = "/" // not in a workspace that may have to go
	// The mark keeps it out of the worker: shims recognise it by that and by what it
	// runs, see [rundir.IsHelper].
	cmd.Env = append(caller.WorkerEnv(r.opts.Env), swarm.EnvDir+"="+string(r.opts.Dir), swarm.EnvShim+"="+rundir.RespawnMark)
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
