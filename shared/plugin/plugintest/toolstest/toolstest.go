// Package toolstest tests the tools of a plugin against the contract of
// [github.com/swarmhost/swarm/shared/swarm], as package
// [github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest] tests a backend. The plugin
// may be of any kind.
//
// [Run] tests the value itself and then the same value behind the wire, in one process.
// [RunBinary] tests a built plugin, started as a host starts it.
//
// It is imported by tests, and by package
// [github.com/swarmhost/swarm/shared/plugin/plugintest], which checks plugins of all kinds.
package toolstest

import (
	"context"
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

// Call is a call that the plugin has to answer.
type Call struct {
	// Tool is the name of the tool, Input a JSON object.
	Tool, Input string
}

// Tools describes how to test tools.
type Tools struct {
	// New returns the value that a new process of the plugin would have.
	New func(t T) swarm.Toolbox
	// Calls are described at [Binary].
	Calls []Call
}

// Binary describes how to test a built plugin.
type Binary struct {
	// Path is the plugin's executable, Args are its arguments.
	Path string
	Args []string
	// Config is sent to the plugin, as JSON; nil sends none.
	Config []byte
	// Env is the plugin's environment; nil: the test's.
	Env []string
	// Calls are made in the cases about answers. Nil: one of each read-only tool whose input
	// may be empty.
	Calls []Call
}

// Run tests tools: the value itself in the subtests "direct", and behind the wire in the
// subtests "grpc".
func Run(t *testing.T, b Tools) {
	t.Helper()
	t.Run("direct", func(t *testing.T) { harness.RunTests(t, items(t, b.direct, b.Calls), true) })
	t.Run("grpc", func(t *testing.T) { harness.RunTests(t, items(t, b.wired, b.Calls), true) })
}

// RunBinary tests a built plugin that only offers tools, which it starts anew for every case.
func RunBinary(t *testing.T, b Binary) {
	t.Helper()
	p := b.program()
	if harness.RunTests(t, p.StartCases(), false) {
		harness.RunTests(t, slices.Concat(p.LifeCases(), b.Items(t)), true)
	}
}

// Items are the cases of a built plugin. It is started once to ask for its tools, and again for
// each case.
func (b Binary) Items(t T) []harness.Item {
	t.Helper()
	return items(t, b.open, b.Calls)
}

func (b Binary) program() harness.Program {
	return harness.Program{Path: b.Path, Args: b.Args, Env: b.Env, Config: b.Config}
}

func (b Binary) open(t T) subject {
	t.Helper()
	return subjectOf(t, b.program().Start(t).Client)
}

// subject is the tools of a plugin with its announced capabilities.
type subject struct {
	swarm.Toolbox
	check func(context.Context) error // nil: it has no such capability
}

func subjectOf(t T, c *client.Client) subject {
	t.Helper()
	if c.Tools() == nil {
		t.Fatalf("plugin '%s' is of the kind %q and offers no tools", c.Info().Name, c.Info().Kind)
	}
	s := subject{Toolbox: c.Tools()}
	if c.Info().Has(swarm.CapCheck) {
		s.check = c.Check
	}
	return s
}

func (b Tools) direct(t T) subject {
	s := subject{Toolbox: b.New(t)}
	if c, ok := s.Toolbox.(swarm.Checker); ok {
		s.check = c.Check
	}
	return s
}

func (b Tools) wired(t T) subject {
	t.Helper()
	return subjectOf(t, harness.Serve(t, rpc.Plugin{
		Name: "under-test",
		Kind: pb.Kind_KIND_TOOLS,
		New:  func(context.Context, []byte) (any, error) { return b.New(t), nil },
	}))
}
