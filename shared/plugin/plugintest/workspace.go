package plugintest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Workspace describes how to test a workspace plugin.
type Workspace struct {
	// New returns the plugin that a new process would have.
	New func(t T) swarm.Workspace
	// Base makes what workspaces are made of, such as a repository, and returns
	// its directory, absolute.
	Base func(t T) string
}

// WorkspaceBinary describes how to test a built workspace plugin. The fields that it
// shares with [Binary] and [Workspace] mean the same.
type WorkspaceBinary struct {
	Path   string
	Args   []string
	Config []byte
	Env    []string
	Base   func(t T) string
}

// RunWorkspace tests a workspace plugin: the value itself in the subtests
// "direct", and behind the wire in the subtests "grpc".
func RunWorkspace(t *testing.T, w Workspace) {
	t.Helper()
	t.Run("direct", func(t *testing.T) { runTests(t, workspaceItems(w.Base, w.direct, w.direct(t)), true) })
	t.Run("grpc", func(t *testing.T) { runTests(t, workspaceItems(w.Base, w.wired, w.wired(t)), true) })
}

// RunWorkspaceBinary tests a built plugin, which it starts anew for every case.
func RunWorkspaceBinary(t *testing.T, b WorkspaceBinary) {
	t.Helper()
	p := b.program()
	if runTests(t, p.items(startCases()), false) {
		runTests(t, slices.Concat(p.items(lifeCases()), workspaceItems(b.Base, b.open, b.open(t))), true)
	}
}

func (b WorkspaceBinary) program() program {
	return program{path: b.Path, args: b.Args, env: b.Env, config: b.Config}
}

func (b WorkspaceBinary) open(t T) workspaceSubject {
	t.Helper()
	c := b.program().start(t).Client
	if c.Workspace() == nil {
		t.Fatalf("plugin '%s' is of the kind %q", c.Info().Name, c.Info().Kind)
	}
	return workspaceSubject{c.Workspace(), c.Info().Capabilities}
}

// workspaceSubject is a workspace plugin with its announced capabilities.
type workspaceSubject struct {
	swarm.Workspace
	caps []swarm.Capability
}

func (s workspaceSubject) has(c swarm.Capability) bool { return c == "" || slices.Contains(s.caps, c) }

func (w Workspace) direct(t T) workspaceSubject {
	ws := w.New(t)
	return workspaceSubject{ws, swarm.CapabilitiesOf(ws)}
}

func (w Workspace) wired(t T) workspaceSubject {
	t.Helper()
	c := connect(t, rpc.Plugin{
		Name: "under-test",
		Kind: pb.Kind_KIND_WORKSPACE,
		New:  func(context.Context, []byte) (any, error) { return w.New(t), nil },
	})
	return workspaceSubject{c.Workspace(), c.Info().Capabilities}
}

// workspaceCase checks one rule of the contract.
type workspaceCase struct {
	name, rule string
	needs      swarm.Capability
	run        func(k *workspaceKit)
}

// workspaceItems are the cases of a workspace plugin. probe holds its capabilities.
func workspaceItems(base func(T) string, open func(T) workspaceSubject, probe workspaceSubject) []item {
	var items []item
	for _, c := range slices.Concat(workspaceCases(), savedCases()) {
		i := item{name: c.name, rule: c.rule, run: func(t T) { t.Helper(); c.check(t, base, open) }}
		if !probe.has(c.needs) {
			i.skip = fmt.Sprintf("it does not have the capability %q", c.needs)
		}
		items = append(items, i)
	}
	return items
}

// check runs the case.
func (c workspaceCase) check(t T, base func(T) string, open func(T) workspaceSubject) {
	t.Helper()
	k := &workspaceKit{T: t, rule: c.rule, ctx: t.Context(), open: open, base: base(t)}
	k.workspaceSubject = open(t)
	c.run(k)
}

// workspaceKit is the environment of a case.
type workspaceKit struct {
	T
	workspaceSubject
	rule string
	ctx  context.Context //nolint:containedctx // of the test, ends with it
	open func(T) workspaceSubject
	base string
}

// broken reports that the rule is broken, and goes on.
func (k *workspaceKit) broken(format string, args ...any) {
	k.Helper()
	k.Errorf("broken: %s\n\t%s", k.rule, fmt.Sprintf(format, args...))
}

// fatal reports that the rule is broken, and ends the case.
func (k *workspaceKit) fatal(format string, args ...any) {
	k.Helper()
	k.Fatalf("broken: %s\n\t%s", k.rule, fmt.Sprintf(format, args...))
}
