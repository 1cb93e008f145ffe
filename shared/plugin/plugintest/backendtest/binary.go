package backendtest

import (
	"slices"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
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
	// Workers is how many workers run at once in the case "many-workers"; 0: 100.
	Workers int
	Shim    string
	Handles []swarm.Handle
	Spec    func(t T, spec *swarm.Spec)
	Command func(s script.Script) []string
}

// RunBinary tests a built plugin, which it starts anew for every case.
func RunBinary(t *testing.T, b Binary) {
	t.Helper()
	p := b.Program()
	if harness.RunTests(t, p.StartCases(), false) {
		harness.RunTests(t, slices.Concat(p.LifeCases(), b.Items(t, p.Start(t))), true)
	}
}

// Program returns the plugin's program.
func (b Binary) Program() harness.Program {
	return harness.Program{Path: b.Path, Args: b.Args, Env: b.Env, Config: b.Config}
}

// Items are the cases of a built plugin that runs as p; each starts it anew.
func (b Binary) Items(t T, p *harness.Process) []harness.Item {
	t.Helper()
	return backendItems(b, b.open, built(t, p))
}

func (b Binary) open(t T) subject {
	t.Helper()
	return built(t, b.Program().Start(t))
}

func built(t T, p *harness.Process) subject {
	t.Helper()
	s := remote(t, p.Client)
	s.plugin = p
	return s
}
