package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// errLeft is why waiting for a shim ends that left without a word.
var errLeft = errors.New("swarm-shim ended before the worker was started")

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
	// Errors of this are those of files in a directory which the caller is about
	// to drop, or which nobody reads any more.
	defer starting.Close()

	// The shim outlives this call and this process.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), shimPath, dir)
	cmd.Dir = dir
	cmd.Env = []string{swarm.EnvKeeper + "=" + l.ID, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: start swarm-shim: %w", swarm.ErrUnavailable, err)
	}
	waiting, cancel := context.WithCancelCause(ctx)
	left := make(chan struct{})
	go func() {
		// How it ended is in the run directory. The wait is so that no zombie is
		// left for as long as this process lives.
		_ = cmd.Wait()
		close(left)
		cancel(errLeft)
	}()
	err = starting.Wait(waiting)
	if err != nil {
		undo(ctx, cmd.Process, left, dir, l)
	}
	return err
}

// undo ends a shim that was not seen to start its worker, and a worker that it
// may have started all the same.
func undo(ctx context.Context, shim *os.Process, left <-chan struct{}, dir string, l rundir.Launch) {
	const margin = 2 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(l.GraceMS)*time.Millisecond+margin)
	defer cancel()
	// The order to leave is for a shim which does not listen yet.
	_ = shim.Signal(syscall.SIGTERM)
	_, _ = Kill(ctx, dir, l.ID, swarm.KillOptions{Signal: "SIGKILL", Force: true})
	select {
	case <-left:
	case <-ctx.Done():
		_ = shim.Kill()
		<-left
		_, _ = Kill(context.WithoutCancel(ctx), dir, l.ID, swarm.KillOptions{Signal: "SIGKILL", Force: true})
	}
}
