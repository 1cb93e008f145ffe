package backendtest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// onSandbox changes the sandbox of a worker that is to touch or to reach something.
func onSandbox(f func(box *swarm.Sandbox, value string)) hooks {
	return hooks{spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
		if s.Sandbox != nil {
			value := ""
			for _, kv := range s.Env {
				if v, ok := strings.CutPrefix(kv, script.ValueVar+"="); ok {
					value = v
				}
			}
			s.Sandbox = s.Sandbox.Clone()
			f(s.Sandbox, value)
		}
		return b.right(ctx, s)
	}}
}

// sandboxWays are the ways to break the rules of sandboxes.
func sandboxWays() map[string]hooks {
	return map[string]hooks{
		"sandbox-write-outside": onSandbox(func(box *swarm.Sandbox, value string) {
			if dir := filepath.Dir(value); filepath.IsAbs(value) && dir != "/tmp" {
				box.Write = append(box.Write, dir)
			}
		}),
		"sandbox-temporary-files": onSandbox(func(box *swarm.Sandbox, value string) {
			if filepath.Dir(value) == "/tmp" {
				box.Write = append(box.Write, "/tmp")
			}
		}),
		"sandbox-network": onSandbox(func(box *swarm.Sandbox, _ string) {
			if box.Network == swarm.NetworkNone {
				box.Network = swarm.NetworkHost
			}
		}),
		"sandbox-that-cannot-be-made": {spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			h, err := b.right(ctx, s)
			if s.Sandbox != nil && errors.Is(err, swarm.ErrInvalidSpec) {
				s.Sandbox = nil // as well as it can
				return b.right(ctx, s)
			}
			return h, err
		}},
	}
}
