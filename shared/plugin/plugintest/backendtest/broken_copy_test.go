package backendtest

import (
	"errors"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// copyWays are the ways to break the rules of copies.
func copyWays() map[string]hooks {
	type program = func(swarm.CopyOptions) (swarm.Program, error)
	on := func(f func(b *broken, h swarm.Handle, o swarm.CopyOptions, right program) (swarm.Program, error)) hooks {
		return hooks{talk: talkHooks{copy: f}}
	}
	// instead makes another program of the right one, whose last arguments are a directory and a path, for
	// some options.
	instead := func(when func(swarm.CopyOptions) bool, script string) hooks {
		return on(func(_ *broken, _ swarm.Handle, o swarm.CopyOptions, right program) (swarm.Program, error) {
			p, err := right(o)
			if err == nil && when(o) {
				p.Command = append([]string{"sh", "-c", `at=$5/$6; ` + script, "instead"}, p.Command...)
			}
			return p, err
		})
	}
	into := func(o swarm.CopyOptions) bool { return o.Into }
	named := func(part string) func(swarm.CopyOptions) bool {
		return func(o swarm.CopyOptions) bool { return !o.Into && strings.Contains(o.Path, part) }
	}
	answer := func(is, other error) hooks {
		return on(func(_ *broken, _ swarm.Handle, o swarm.CopyOptions, right program) (swarm.Program, error) {
			p, err := right(o)
			if errors.Is(err, is) {
				return p, other
			}
			return p, err
		})
	}
	return map[string]hooks{
		"copy-files":         instead(into, `exec tar -xf - --exclude '*data' -C "$at"`),
		"copy-names":         instead(named("/names"), `exec tar -cf - -C "$(dirname "$at")/.." "$(basename "$(dirname "$at")")/names"`),
		"copy-replaces":      instead(into, `exec tar -xf - --skip-old-files -C "$at"`),
		"copy-stays-inside":  instead(into, `exec tar -P -xf - -C "$at"`),
		"copy-relative":      instead(named("/../.."), `exit 0`),
		"copy-fails":         instead(named("-missing"), `"$@" || exit 0`),
		"copy-after-the-end": answer(swarm.ErrNotFound, swarm.ErrUnavailable),
		"copy-bad-handle":    answer(swarm.ErrInvalidHandle, swarm.ErrNotFound),
	}
}
