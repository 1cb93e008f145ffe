// Package workspacetest tests a workspace plugin against the contract of
// [github.com/swarmhost/swarm/shared/swarm], as package
// [github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest] tests a backend.
//
// [Run] tests the value itself and then the same value behind the wire, in one process.
// [RunBinary] tests a built plugin, started as a host starts it.
//
// It is imported by tests, and by package
// [github.com/swarmhost/swarm/shared/plugin/plugintest], which checks plugins of all kinds.
package workspacetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
)

// T is what a case needs of a [*testing.T].
type T = harness.T

// Workspace describes how to test a workspace plugin.
type Workspace struct {
	// New returns the plugin that a new process would have.
	New func(t T) swarm.Workspace
	// Base makes a source of workspaces, such as a repository, and returns its directory,
	// absolute.
	Base func(t T) string
}

// Binary describes how to test a built workspace plugin.
type Binary struct {
	// Path is the plugin's executable, Args are its arguments.
	Path string
	Args []string
	// Config is sent to the plugin, as JSON; nil sends none.
	Config []byte
	// Env is the plugin's environment; nil: the test's.
	Env []string
	// Base is described at [Workspace].
	Base func(t T) string
}

// Run tests a workspace plugin: the value itself in the subtests
// "direct", and behind the wire in the subtests "grpc".
func Run(t *testing.T, w Workspace) {
	t.Helper()
	t.Run("direct", func(t *testing.T) { harness.RunTests(t, items(w.Base, w.direct, w.direct(t)), true) })
	t.Run("grpc", func(t *testing.T) { harness.RunTests(t, items(w.Base, w.wired, w.wired(t)), true) })
}

// RunBinary tests a built plugin, which it starts anew for every case.
func RunBinary(t *testing.T, b Binary) {
	t.Helper()
	p := b.program()
	if harness.RunTests(t, p.StartCases(), false) {
		harness.RunTests(t, slices.Concat(p.LifeCases(), items(b.Base, b.open, b.open(t))), true)
	}
}

func (b Binary) program() harness.Program {
	return harness.Program{Path: b.Path, Args: b.Args, Env: b.Env, Config: b.Config}
}

func (b Binary) open(t T) subject {
	t.Helper()
	c := b.program().Start(t).Client
	if c.Workspace() == nil {
		t.Fatalf("plugin '%s' is of the kind %q", c.Info().Name, c.Info().Kind)
	}
	return subject{c.Workspace(), c.Info().Capabilities}
}

// Items are the cases of a built plugin to which c is connected; each starts it anew.
func (b Binary) Items(c *client.Client) []harness.Item {
	return items(b.Base, b.open, subject{c.Workspace(), c.Info().Capabilities})
}

// subject is a workspace plugin with its announced capabilities.
type subject struct {
	swarm.Workspace
	caps []swarm.Capability
}

func (w Workspace) direct(t T) subject {
	ws := w.New(t)
	return subject{ws, swarm.CapabilitiesOf(ws)}
}

func (w Workspace) wired(t T) subject {
	t.Helper()
	c := harness.Serve(t, rpc.Plugin{
		Name: "under-test",
		Kind: pb.Kind_KIND_WORKSPACE,
		New:  func(context.Context, []byte) (any, error) { return w.New(t), nil },
	})
	return subject{c.Workspace(), c.Info().Capabilities}
}

// testCase checks one rule of the contract.
type testCase struct {
	name  string
	needs swarm.Capability // empty: the rule is for all
	rule  string
	run   func(k *kit)
}

func newCase(name string, needs swarm.Capability, rule string, run func(k *kit)) testCase {
	return testCase{name, needs, rule, run}
}

// items are the cases of a workspace plugin. probe holds its capabilities.
func items(base func(T) string, open func(T) subject, probe subject) []harness.Item {
	var items []harness.Item
	for _, c := range slices.Concat(cases(), savedCases()) {
		i := harness.Item{Name: c.name, Rule: c.rule, Run: func(t T) {
			t.Helper()
			c.run(&kit{Kit: harness.NewKit(t, c.rule), open: open, base: base(t), subject: open(t)})
		}}
		if c.needs != "" && !slices.Contains(probe.caps, c.needs) {
			i.Skip = fmt.Sprintf("it does not have the capability %q", c.needs)
		}
		items = append(items, i)
	}
	return items
}

type kit struct {
	harness.Kit
	subject
	open func(T) subject
	base string
}
