package backendtest

import (
	"context"
	"errors"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// execWays are the ways to break the rules of commands in workers.
func execWays() map[string]hooks {
	type program = func(swarm.ExecOptions) (swarm.Program, error)
	on := func(f func(b *broken, h swarm.Handle, o swarm.ExecOptions, right program) (swarm.Program, error)) hooks {
		return hooks{talk: talkHooks{exec: f}}
	}
	// instead makes another program of the right one for commands that have a word.
	instead := func(word string, other func(o swarm.ExecOptions, p swarm.Program) []string) hooks {
		return on(func(_ *broken, _ swarm.Handle, o swarm.ExecOptions, right program) (swarm.Program, error) {
			p, err := right(o)
			if err == nil && strings.Contains(strings.Join(o.Command, " "), word) {
				p.Command = other(o, p)
			}
			return p, err
		})
	}
	outside := func(o swarm.ExecOptions, _ swarm.Program) []string { return o.Command }
	around := func(script string) func(swarm.ExecOptions, swarm.Program) []string {
		return func(_ swarm.ExecOptions, p swarm.Program) []string {
			return append([]string{"sh", "-c", script, "around"}, p.Command...)
		}
	}
	answer := func(is, other error) hooks {
		return on(func(_ *broken, _ swarm.Handle, o swarm.ExecOptions, right program) (swarm.Program, error) {
			p, err := right(o)
			if errors.Is(err, is) {
				return swarm.Program{Command: []string{"true"}}, other
			}
			return p, err
		})
	}
	return map[string]hooks{
		"exec-environment": on(func(_ *broken, _ swarm.Handle, o swarm.ExecOptions, right program) (swarm.Program, error) {
			o.Env = nil
			return right(o)
		}),
		"exec-directory": on(func(_ *broken, _ swarm.Handle, o swarm.ExecOptions, right program) (swarm.Program, error) {
			if o.Dir != "" {
				o.Dir = "/tmp"
			}
			return right(o)
		}),
		"exec-streams":   instead("problem", around(`exec "$@" 2>&1`)),
		"exec-exit-code": instead("exit 7", around(`"$@"; exit 0`)),
		"exec-leaves-the-worker-alone": on(func(b *broken, h swarm.Handle, o swarm.ExecOptions, right program) (swarm.Program, error) {
			p, err := right(o)
			if strings.Contains(strings.Join(o.Command, " "), "exit 9") {
				_, _ = b.Backend.Kill(context.Background(), b.in(h), swarm.KillOptions{Signal: "SIGKILL", Force: true})
			}
			return p, err
		}),
		"exec-ends-with-a-kill":     instead("sleep 601", outside),
		"exec-ends-with-the-worker": instead("sleep 602", outside),
		"exec-ends-with-its-program": instead("sleep 603", func(swarm.ExecOptions, swarm.Program) []string {
			return []string{"sh", "-c", "(echo begun; exec sleep 30) & wait"}
		}),
		"exec-after-the-end": answer(swarm.ErrNotFound, nil),
		"exec-bad-handle":    answer(swarm.ErrInvalidHandle, swarm.ErrNotFound),
	}
}
