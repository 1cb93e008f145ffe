package container

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/plugins/container/members"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *Backend) Signal(ctx context.Context, h swarm.Handle, o swarm.SignalOptions) error {
	r, e, err := b.open(ctx, h)
	if err != nil {
		return err
	}
	name, err := swarm.ParseSignal(o.Signal)
	if err != nil {
		return err
	}
	s, err := e.inspect(ctx, r)
	if err != nil {
		return err
	}
	if !s.running && !s.created {
		return errEnded()
	}
	return e.signal(ctx, r, s, name, o.Mode)
}

func errEnded() error { return fmt.Errorf("%w: the worker does not run", swarm.ErrNotFound) }

// signal sends a signal to a container's main process or to all of its processes.
// [swarm.ErrNotFound] says that it does not run.
//
// Engines signal the main process only. The other processes are signalled from here if
// this machine shows that they are in the container, which it does not if the engine runs
// in a virtual machine.
func (e *engine) signal(ctx context.Context, r ref, s state, name string, mode swarm.KillMode) error {
	if mode == swarm.KillTree {
		switch sent, err := signalAll(s.pid, r.Container, proc.SignalNumber(name)); {
		case sent:
			return nil
		case err != nil && !errors.Is(err, members.ErrNotHere):
			return err
		}
	}
	_, err := e.ContainerKill(ctx, r.Container, client.ContainerKillOptions{Signal: forEngine(name)})
	if errdefs.IsConflict(err) || isGone(err) || err != nil && strings.Contains(err.Error(), "state improper") {
		return errEnded()
	}
	return e.explain(ctx, "send "+name, err)
}

// signalAll signals all processes of a container but its init, and reports whether there
// were any. The init would pass the signal on to the main process, which has it already.
func signalAll(init int, container string, sig syscall.Signal) (sent bool, err error) {
	if sig == syscall.SIGKILL {
		return false, nil // the init's end is the end of all
	}
	pids, err := members.Of(init, container)
	if err != nil {
		return false, err
	}
	for _, pid := range pids {
		if pid == init {
			continue
		}
		id, err := proc.Identify(pid)
		if err != nil || !members.Is(pid, container) {
			continue
		}
		switch err := id.Signal(sig); {
		case err == nil:
			sent = true
		case errors.Is(err, syscall.EPERM):
			return false, members.ErrNotHere
		}
	}
	return sent, nil
}

// forEngine returns a signal as engines take it. Their names of real-time signals are not the
// same on all of them, and the numbers are.
func forEngine(name string) string {
	if n := proc.SignalNumber(name); swarm.IsRealTime(name) && n != 0 {
		return strconv.Itoa(int(n))
	}
	return name
}
