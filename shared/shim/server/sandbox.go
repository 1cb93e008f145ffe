package server

import (
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/server/box"
)

const (
	// reportLimit is how long the report of a process that has ended may take to be read.
	reportLimit = 5 * time.Second
	// spareLimit is how long a kill waits for that report before it ends the first process of
	// the sandbox, which makes it.
	spareLimit = time.Second
)

// boxOver returns the channel that is closed when the sandbox has reported the end of the
// main process; nil without a sandbox, and after that.
func (k *shim) boxOver() <-chan struct{} {
	if k.box == nil || k.phase != running || k.boxLost {
		return nil
	}
	return k.box.Over
}

// boxEnd records the end of the main process in its sandbox. first is how the first process in
// the sandbox ended, nil if that is not known.
func (k *shim) boxEnd(first *unix.WaitStatus) {
	select {
	case <-k.box.Over:
	case <-time.After(reportLimit):
	}
	ws := unix.WaitStatus(unix.SIGKILL) // as everything in a sandbox ends without its first process
	select {
	case <-k.box.Over:
		switch {
		case k.box.Reported:
			ws = k.box.End
		case first == nil:
			k.boxLost = true // it is gone, and is reaped once nothing in the sandbox is left
			return
		}
	default:
	}
	k.mainEnd(ws)
}

// isBox reports whether a process is the first one in the sandbox.
func (k *shim) isBox(pid int) bool { return k.box != nil && pid == k.box.Init.PID }

// sparesInit reports whether a forced kill leaves out the first process in the sandbox: it has
// not reported yet how the main process ended. A kill at the start waits for no report.
func (k *shim) sparesInit() bool {
	return k.box != nil && k.phase == running && !k.boxLost && time.Since(k.forcedAt) < spareLimit
}

// spared returns processes without the first one of the sandbox, which is to run: it may have
// been stopped with the others.
func (k *shim) spared(members []proc.Process) []proc.Process {
	return slices.DeleteFunc(members, func(p proc.Process) bool {
		if k.isBox(p.PID) {
			_ = p.Signal(unix.SIGCONT)
		}
		return k.isBox(p.PID)
	})
}

// reports reports whether only the first process of the sandbox is left. It ends by itself as
// soon as it has reported the end of the main process.
func (k *shim) reports(members []proc.Process) bool {
	if k.phase != running || len(members) != 1 || !k.isBox(members[0].PID) {
		return false
	}
	k.spared(members)
	k.thaw()
	return true
}

func (k *shim) boxed(attr *syscall.ProcAttr) error {
	b, main, err := box.Start(box.Spec{
		ID: k.launch.ID, Wrap: k.launch.Wrap, Command: k.launch.Command, Env: attr.Env, Streams: attr.Files, Terminal: attr.Sys.Setctty,
		Fork: func(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
			pid, err := k.fork(program, argv, attr)
			if err == nil {
				k.threads = proc.ForkThreads(pid)
			}
			return pid, err
		},
	})
	if err != nil {
		return err
	}
	k.box, k.boxLost = b, false
	k.status.Main, k.status.Session = main, main.PID
	return nil
}
