package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// identify returns the identity of the shim that was started. It is a variable for the test in which it
// fails, as with a full table of files.
var identify = proc.Identify

// Start starts a shim in a session of its own, which shares no descriptor and no environment
// with the caller, and returns once the worker runs. After an error neither remains; if the
// shim refused the launch, the error is [swarm.ErrInvalidSpec].
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
	cmd.Env = append(rundir.ShimEnv(l.ID), "PATH="+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: start swarm-shim: %w", swarm.ErrUnavailable, err)
	}
	pid := cmd.Process.Pid
	id, err := identify(pid)
	if err != nil {
		// The shim is not reaped yet, so the pid is still its own. A shim without a known
		// identity would run on unnoticed.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
		defer cancel()
		_, killErr := Kill(bounded, dir, l.ID, atOnce) // it may have started its worker
		return fmt.Errorf("%w: swarm-shim (pid %d): %w", swarm.ErrUnavailable, pid, errors.Join(err, killErr))
	}
	go func() {
		// The run directory holds the result. Without the wait, a zombie would stay as long as
		// this process lives.
		_ = cmd.Wait()
	}()
	return starting.Watch(ctx, id)
}

// CloseOnExec makes sure that processes which this one starts inherit only the descriptors
// that they are given. Those that Go opens are safe; those that this process was started
// with are not, and a worker that held one of them would keep its other end waiting until
// the worker ends.
//
// [Start] calls it; a backend whose shim is started by another program calls it before it
// starts that program.
var CloseOnExec = sync.OnceValue(func() error {
	// Both Linux and darwin list this process's descriptors here.
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			// The descriptor was closed meanwhile, so it is not inherited.
			syscall.CloseOnExec(fd)
		}
	}
	return nil
})

// Recover returns the shim of a worker whose start was interrupted on this side: the
// process that called [Start] or [Prepare] is gone. The error [swarm.ErrNotFound] is final:
// no shim will start that worker any more. Recover waits for a start that is still in
// progress.
func Recover(ctx context.Context, dir, id string) (proc.Identity, error) {
	if shim, ok := Find(dir, id); ok {
		return shim, nil
	}
	notFound := fmt.Errorf("%w: worker %s", swarm.ErrNotFound, id)
	switch err := os.Remove(filepath.Join(dir, rundir.LaunchFile)); {
	case err == nil:
		// A shim that comes later finds nothing to start.
		return proc.Identity{}, notFound
	case !errors.Is(err, fs.ErrNotExist):
		return proc.Identity{}, err
	}
	// There was no launch file yet, or a shim took it. That shim holds the lock until it
	// has written its status or has ended.
	err := AwaitStart(ctx, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return proc.Identity{}, err
	}
	if shim, ok := Find(dir, id); ok {
		return shim, nil
	}
	return proc.Identity{}, notFound
}

// AwaitStart returns when no shim is starting a worker in the run directory: a shim holds
// the lock on it from before it takes the launch file until it has written its status.
func AwaitStart(ctx context.Context, dir string) error { return safefile.AwaitDir(ctx, dir) }
