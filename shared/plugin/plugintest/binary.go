package plugintest

import (
	"slices"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Binary describes how to test a built backend plugin. The fields that it shares with
// [Backend] mean the same.
type Binary struct {
	// Path is the plugin's executable, Args are its arguments.
	Path string
	Args []string
	// Config is sent to the plugin, as JSON; nil sends none.
	Config []byte
	// Env is the plugin's environment; nil: that of the test.
	Env []string
	// Workers is how many workers run at once in the case about many; 0: 100.
	Workers int
	Shim    string
	Handles []swarm.Handle
	Spec    func(t T, spec *swarm.Spec)
	Command func(s Script) []string
}

// RunBinary tests a built plugin, which it starts anew for every case.
func RunBinary(t *testing.T, b Binary) {
	t.Helper()
	p := b.program()
	if harness.RunTests(t, p.StartCases(), false) {
		harness.RunTests(t, slices.Concat(p.LifeCases(), b.items(b.open(t))), true)
	}
}

func (b Binary) program() harness.Program {
	return harness.Program{Path: b.Path, Args: b.Args, Env: b.Env, Config: b.Config}
}

func (b Binary) settings() settings {
	return settings{shim: b.Shim, spec: b.Spec, command: b.Command, handles: b.Handles, workers: b.Workers}
}

func (b Binary) items(probe subject) []harness.Item { return backendItems(b.settings(), b.open, probe) }

// open starts the plugin as a host does.
func (b Binary) open(t T) subject {
	t.Helper()
	p := b.program().Start(t)
	s := remote(t, p.Client)
	s.plugin = p
	return s
}
