package server

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// startClean executes the shim once more if it was started with blocked signals,
// which the worker would inherit and which the runtime gives no way to unblock,
// without the marker, by which an outer shim would take it for a worker's process, or for more
// than one processor.
func startClean() error {
	var none, now unix.Sigset_t
	// All threads have the settings with which the first one was started.
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, nil, &now); err != nil {
		return os.NewSyscallError("sigprocmask", err)
	}
	_, marked := os.LookupEnv(swarm.EnvShim)
	single := os.Getenv(rundir.OneProcessor) == rundir.OneProcessorValue
	if now == none && marked && single {
		return nil
	}
	// Not before: it would cost those that are clean a thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, nil); err != nil {
		return os.NewSyscallError("sigprocmask", err)
	}
	if !marked {
		if err := os.Setenv(swarm.EnvShim, "1"); err != nil {
			return err
		}
	}
	if err := os.Setenv(rundir.OneProcessor, rundir.OneProcessorValue); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return os.NewSyscallError("exec", unix.Exec(self, os.Args, os.Environ()))
}
