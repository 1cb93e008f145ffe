package ralph

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// lastLook is how long processes may take to disappear after SIGKILL: one that sleeps in
// the kernel does not disappear.
const lastLook = 5 * time.Second

// members returns the living processes below this one: the agent's. Workers that the agent
// started with swarm are left out: they and their shims, which carry a mark, outlive the
// agent.
func members() ([]proc.Process, error) {
	return proc.Below(nil, func(p proc.Process) (bool, error) {
		_, marked, err := proc.LookupEnv(p.PID, swarm.EnvShim)
		return marked, err
	})
}

// terminate asks processes to end. It does not ask a process twice: many programs take a
// second request for impatience.
func terminate(ps []proc.Process, asked map[int]uint64) {
	for _, p := range ps {
		if asked[p.PID] == p.Start {
			continue
		}
		asked[p.PID] = p.Start
		// A stopped process sees its signal only when it continues.
		_ = p.Signal(syscall.SIGTERM)
		_ = p.Signal(syscall.SIGCONT)
	}
}

// force kills all processes. It stops them first, so that none can fork while the tree is
// read.
func force() {
	stopped := make(map[int]uint64)
	var all []proc.Process
	for until := time.Now().Add(lastLook); time.Now().Before(until); {
		all, _ = members()
		fresh := false
		for _, p := range all {
			if stopped[p.PID] != p.Start {
				stopped[p.PID], fresh = p.Start, true
				_ = p.Signal(syscall.SIGSTOP)
			}
		}
		if !fresh {
			break
		}
	}
	for _, p := range all {
		_ = p.Signal(syscall.SIGKILL)
	}
}

type reaped struct {
	pid    int
	status unix.WaitStatus
}

// reap takes notice of all children that have ended. Those that lost their own
// parent are children of this process too.
func reap() (ended []reaped) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
		case err != nil || pid <= 0:
			return ended
		default:
			ended = append(ended, reaped{pid: pid, status: status})
		}
	}
}
