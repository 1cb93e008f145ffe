package backendtest

import (
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// deadlineWays are the ways to break the rules of deadlines.
func deadlineWays() map[string]hooks {
	return map[string]hooks{
		"deadline-in-spawn": {find: func(b *broken, h swarm.Handle, err error) (swarm.Handle, error) {
			if err == nil && strings.HasPrefix(b.specOf(h).Name, "deadline-") && b.count(b.looks, h) == 1 {
				return swarm.Handle{}, swarm.ErrUnavailable
			}
			return h, err
		}},
		"deadline-in-kill": {beforeKill: func(b *broken, h swarm.Handle, o swarm.KillOptions) error {
			if !o.Force && o.Grace == longGrace {
				b.count(b.kills, h)
				return nil
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.kills[string(h.Data)] > 2 {
				return errBroken // though it is done
			}
			return nil
		}},
	}
}
