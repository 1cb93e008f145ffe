package backendtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
)

// subject is a backend with its announced capabilities.
type subject struct {
	swarm.Backend
	caps   []swarm.Capability
	local  bool
	plugin *harness.Process // nil if the backend is in this process
}

func (s subject) has(c swarm.Capability) bool { return c == "" || slices.Contains(s.caps, c) }

// opener makes the backend as a new process would, for a host with its run directories in a
// directory; empty: it does not say where.
type opener func(t T, runDirs string) subject

func (b Backend) direct(t T, _ string) subject {
	backend := b.New(t)
	return subject{Backend: backend, caps: swarm.CapabilitiesOf(backend), local: b.Local}
}

// wired serves the backend over a connection in memory.
func (b Backend) wired(t T, runDirs string) subject {
	t.Helper()
	return remote(t, harness.Serve(t, rpc.Plugin{
		Name:  "under-test",
		Kind:  pb.Kind_KIND_BACKEND,
		Local: b.Local,
		New:   func(context.Context, []byte) (any, error) { return b.New(t), nil },
	}, client.RunDirs(runDirs)))
}

// remote returns the capabilities of a connected plugin. The SDK adds the batch methods if
// the plugin lacks them.
func remote(t T, c *client.Client) subject {
	t.Helper()
	if c.Backend() == nil {
		t.Fatalf("plugin '%s' is of the kind %q", c.Info().Name, c.Info().Kind)
	}
	return subject{
		Backend: c.Backend(),
		caps:    append(c.Info().Capabilities, swarm.CapBatchStatus),
		local:   c.Info().Local,
	}
}

func backendItems(s Binary, open opener, probe subject) []harness.Item {
	var items []harness.Item
	for _, c := range backendCases() {
		items = append(items, harness.Item{
			Name: c.name, Rule: c.rule, Skip: c.skip(probe), Alone: c.alone,
			Run: func(t T) { t.Helper(); c.run(newKit(t, c, s, open)) },
		})
	}
	return items
}

// skip is the reason why the rule does not apply to the backend; empty if it does.
func (c testCase) skip(s subject) string {
	for _, need := range []swarm.Capability{c.needs, c.also} {
		if !s.has(need) {
			return fmt.Sprintf("it does not have the capability %q", need)
		}
	}
	switch {
	case c.local && !s.local:
		return "the plugin is not local"
	case c.built && s.plugin == nil:
		return "the plugin is not a process of its own"
	}
	return ""
}
