package plugintest

import (
	"context"
	"errors"
	"slices"

	"github.com/swarmhost/swarm/shared/swarm"
)

func olderCases() []testCase {
	return []testCase{{
		name: "handle-older-versions",
		rule: "a backend reads every version of its handles that it ever wrote",
		run: func(k *kit) {
			now := k.spawn(Sleep).handle.Version
			for v := uint32(1); v < now; v++ {
				if !slices.ContainsFunc(k.settings.handles, func(h swarm.Handle) bool { return h.Version == v }) {
					k.broken("handles are of version %d now, and none of version %d is there to check", now, v)
				}
			}
			for _, h := range k.settings.handles {
				ctx, cancel := k.limited()
				_, err := k.Status(ctx, h)
				// Whether there still is such a worker does not matter.
				if errors.Is(err, swarm.ErrInvalidHandle) || errors.Is(err, context.DeadlineExceeded) {
					k.broken("Status of one of version %d: %v", h.Version, err)
				}
				cancel()
			}
		},
	}}
}
