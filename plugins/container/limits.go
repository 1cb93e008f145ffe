package container

import (
	"context"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Announce says that workers can have a standard input, and which limits engines enforce.
func (b *Backend) Announce() []swarm.Capability {
	return []swarm.Capability{swarm.CapStdin, swarm.CapLimitMemory, swarm.CapLimitCPUs, swarm.CapLimitPIDs}
}

// resources are limits in the words of engines. The init of a container counts as a
// process, too.
func resources(l swarm.Limits) container.Resources {
	r := container.Resources{Memory: l.Memory, MemorySwap: l.Memory, NanoCPUs: int64(l.CPUs * 1e9)}
	if l.PIDs > 0 {
		r.PidsLimit = new(int64(l.PIDs) + 1)
	}
	return r
}

// unenforced returns the warnings of an engine that can't carry out a limit.
func unenforced(warnings []string) string {
	var lines []string
	for _, w := range warnings {
		if strings.Contains(strings.ToLower(w), "discarded") {
			lines = append(lines, firstLine(w))
		}
	}
	return strings.Join(lines, "; ")
}

// SetLimits changes the limits of the container. An engine can't take a limit of memory
// away: it becomes one of more than any machine has.
func (b *Backend) SetLimits(ctx context.Context, h swarm.Handle, l swarm.Limits) error {
	r, e, err := b.open(ctx, h)
	if err != nil {
		return err
	}
	if err := l.Check(); err != nil {
		return err
	}
	if l.Nice != 0 || l.IOWeight != 0 {
		return fmt.Errorf("%w: the container backend limits memory, CPUs and processes only", swarm.ErrInvalidSpec)
	}
	s, err := e.inspect(ctx, r)
	if err != nil {
		return err
	}
	if !s.running {
		return errEnded()
	}
	const unlimited = 1 << 50
	to := resources(l)
	if l.Memory == 0 && s.memory > 0 {
		to.Memory, to.MemorySwap = unlimited, unlimited
	}
	if l.PIDs == 0 {
		to.PidsLimit = new(int64(-1))
	}
	if l.CPUs == 0 {
		to.NanoCPUs = 0
		to.CPUQuota = -1
	}
	got, err := e.ContainerUpdate(ctx, r.Container, client.ContainerUpdateOptions{Resources: &to})
	if isGone(err) {
		if _, gone := e.inspect(ctx, r); gone != nil {
			return gone
		}
		return fmt.Errorf("%w: this engine can't change the limits of a container that runs (Podman before 5 can't, through its socket)", swarm.ErrInvalidSpec)
	}
	if err != nil {
		return fmt.Errorf("%w: change the limits: %s", swarm.ErrInvalidSpec, plain(err))
	}
	if why := unenforced(got.Warnings); why != "" && !l.BestEffort {
		return fmt.Errorf("%w: %s", swarm.ErrInvalidSpec, why)
	}
	return nil
}

// SetPaused freezes the container, or lets it continue.
func (b *Backend) SetPaused(ctx context.Context, h swarm.Handle, paused bool) error {
	r, e, err := b.open(ctx, h)
	if err != nil {
		return err
	}
	s, err := e.inspect(ctx, r)
	switch {
	case err != nil:
		return err
	case s.created:
		return fmt.Errorf("%w: the worker has not started yet", swarm.ErrUnavailable)
	case !s.running:
		return errEnded()
	case s.paused == paused:
		return nil
	}
	if paused {
		_, err = e.ContainerPause(ctx, r.Container, client.ContainerPauseOptions{})
	} else {
		_, err = e.ContainerUnpause(ctx, r.Container, client.ContainerUnpauseOptions{})
	}
	if err == nil || !errdefs.IsConflict(err) {
		return e.explain(ctx, "pause the worker", err)
	}
	// Another caller was faster, or the worker has just ended.
	if s, err = e.inspect(ctx, r); err == nil && !s.running {
		err = errEnded()
	}
	return err
}
