package history

import (
	"context"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/cgroup"
)

// LeftGroups returns the ids of the workers whose control groups are left over: they do not
// run, and their shim, which would have removed the group, was killed.
func (h *History) LeftGroups(ctx context.Context, reg *registry.Registry) ([]string, error) {
	ids := cgroup.Look().Leftovers(string(h.opts.Dir))
	if len(ids) == 0 {
		return nil, nil
	}
	recs, _, err := reg.Read(ctx, registry.Query{})
	if err != nil {
		return nil, err
	}
	var left []string
	for _, id := range ids {
		// While it is started, nobody knows of it yet.
		at := registry.IndexOf(recs, id)
		if h.opts.Dir.Locked(id) || at >= 0 && recs[at].State != registry.Stopped {
			continue
		}
		left = append(left, id)
	}
	return left, nil
}

// DropGroups removes the control groups that are left over. One that still has processes
// stays: workers that were spawned from that worker share its limits.
func (h *History) DropGroups(ctx context.Context, reg *registry.Registry) error {
	left, err := h.LeftGroups(ctx, reg)
	machine := cgroup.Look()
	for _, id := range left {
		_ = machine.RemoveLeftover(string(h.opts.Dir), id)
	}
	return err
}
