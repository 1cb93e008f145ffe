// Package notifiertest tests a notifier against the contract of
// [github.com/swarmhost/swarm/shared/swarm], as package
// [github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest] tests a backend.
//
// [Run] tests the value itself and then the same value behind the wire, in one process.
// [RunBinary] tests a built plugin, started as a host starts it.
//
// It is imported by tests, and by package
// [github.com/swarmhost/swarm/shared/plugin/plugintest], which checks plugins of all kinds.
package notifiertest

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

// Notifier describes how to test a notifier.
type Notifier struct {
	// New returns the value that a new process of the plugin would have.
	New func(t T) swarm.Notifier
	// Received is described at [Binary].
	Received func() string
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
	// Received returns all that has arrived where the plugin delivers events to, such as the
	// bodies of the requests to a server of the test. The events of the cases have names of
	// workers that are looked for in it. Nil leaves out the cases about what arrives.
	Received func() string
}

// Run tests a notifier: the value itself in the subtests "direct", and behind the wire in the
// subtests "grpc".
func Run(t *testing.T, n Notifier) {
	t.Helper()
	t.Run("direct", func(t *testing.T) { harness.RunTests(t, items(t, n.direct, n.Received), true) })
	t.Run("grpc", func(t *testing.T) { harness.RunTests(t, items(t, n.wired, n.Received), true) })
}

// RunBinary tests a built notifier, which it starts anew for every case.
func RunBinary(t *testing.T, b Binary) {
	t.Helper()
	p := b.program()
	if harness.RunTests(t, p.StartCases(), false) {
		harness.RunTests(t, slices.Concat(p.LifeCases(), b.Items(t)), true)
	}
}

// Items are the cases of a built plugin. It is started once to ask for its capabilities, and
// again for each case.
func (b Binary) Items(t T) []harness.Item {
	t.Helper()
	return items(t, b.open, b.Received)
}

func (b Binary) program() harness.Program {
	return harness.Program{Path: b.Path, Args: b.Args, Env: b.Env, Config: b.Config}
}

func (b Binary) open(t T) subject {
	t.Helper()
	return subjectOf(t, b.program().Start(t).Client)
}

// subject is a notifier with its announced capabilities.
type subject struct {
	swarm.Notifier
	check func(context.Context) error // nil: it has no such capability
}

func subjectOf(t T, c *client.Client) subject {
	t.Helper()
	if c.Notifier() == nil {
		t.Fatalf("plugin '%s' is of the kind %q", c.Info().Name, c.Info().Kind)
	}
	s := subject{Notifier: c.Notifier()}
	if c.Info().Has(swarm.CapCheck) {
		s.check = c.Check
	}
	return s
}

func (n Notifier) direct(t T) subject {
	s := subject{Notifier: n.New(t)}
	if c, ok := s.Notifier.(swarm.Checker); ok {
		s.check = c.Check
	}
	return s
}

func (n Notifier) wired(t T) subject {
	t.Helper()
	return subjectOf(t, harness.Serve(t, rpc.Plugin{
		Name: "under-test",
		Kind: pb.Kind_KIND_NOTIFIER,
		New:  func(context.Context, []byte) (any, error) { return n.New(t), nil },
	}))
}
