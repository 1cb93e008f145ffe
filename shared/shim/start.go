package shim

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/swarmhost/swarm/shared/shim/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Start starts a shim of its own session, which shares no descriptor and no
// environment with the caller, and returns once the worker runs. With an error
// neither is left; what the shim says against the launch is
// [swarm.ErrInvalidSpec].
func Start(ctx context.Context, shimPath, dir string, l rundir.Launch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CloseOnExec(); err != nil {
		return err
	}
	starting, err := Prepare(dir, l)
	if err != nil {
		return err
	}
	defer starting.Close()

	// The shim outlives this call and this process.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), shimPath, dir)
	cmd.Dir = dir
	cmd.Env = []string{swarm.EnvKeeper + "=" + l.ID, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: start swarm-shim: %w", swarm.ErrUnavailable, err)
	}
	pid := cmd.Process.Pid
	id, err := proc.Identify(pid)
	go func() {
		// How it ended is in the run directory. The wait is so that no zombie is
		// left for as long as this process lives.
		_ = cmd.Wait()
	}()
	if err != nil {
		return fmt.Errorf("%w: swarm-shim (pid %d): %w", swarm.ErrUnavailable, pid, err)
	}
	return starting.Watch(ctx, id)
}
