package backendtest

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// forwardWays are the ways to break the rules of connections with workers.
func forwardWays() map[string]hooks {
	type program = func(swarm.ForwardOptions) (swarm.Program, error)
	on := func(f func(b *broken, h swarm.Handle, o swarm.ForwardOptions, right program) (swarm.Program, error)) hooks {
		return hooks{talk: talkHooks{forward: f}}
	}
	// around makes another program of the right one, for ports on which the worker listens, or for others.
	around := func(listens bool, text string) hooks {
		return on(func(b *broken, h swarm.Handle, o swarm.ForwardOptions, right program) (swarm.Program, error) {
			p, err := right(o)
			spec := b.specOf(h)
			if err == nil && slices.Contains(spec.Env, script.ValueVar+"="+strconv.Itoa(o.Port)) == listens {
				p.Env = append(p.Env, "LOCK="+filepath.Join(filepath.Dir(proxyPath), "forward-"+spec.ID))
				p.Command = append([]string{"sh", "-c", text, "around"}, p.Command...)
			}
			return p, err
		})
	}
	answer := func(is, other error) hooks {
		return on(func(_ *broken, _ swarm.Handle, o swarm.ForwardOptions, right program) (swarm.Program, error) {
			p, err := right(o)
			if errors.Is(err, is) {
				return swarm.Program{Command: []string{"true"}}, other
			}
			return p, err
		})
	}
	return map[string]hooks{
		"forward-both-ways":   around(true, `sed -u s/ping/pong/ | "$@"`),
		"forward-several":     around(true, `mkdir "$LOCK" || exit 1; trap 'rmdir "$LOCK"' EXIT; "$@"`),
		"forward-half-closed": around(true, `"$@" | sed -u s/end//`),
		"forward-refused":     around(false, `"$@" || exit 0`),
		"forward-to-no-port": on(func(_ *broken, _ swarm.Handle, o swarm.ForwardOptions, right program) (swarm.Program, error) {
			o.Port = min(max(o.Port, 1), swarm.MaxPort)
			return right(o)
		}),
		"forward-after-the-end": answer(swarm.ErrNotFound, nil),
		"forward-bad-handle":    answer(swarm.ErrInvalidHandle, swarm.ErrNotFound),
	}
}
