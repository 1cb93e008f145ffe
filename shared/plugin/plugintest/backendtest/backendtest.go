// Package backendtest tests a backend against the contract of
// [github.com/swarmhost/swarm/shared/swarm]. Every case names the rule that it checks, so that
// a failure reads as the sentence of the contract that was broken.
//
// The author of a backend calls it from an ordinary test:
//
//	func TestContract(t *testing.T) {
//		backendtest.Run(t, backendtest.Backend{
//			New: func(t backendtest.T) swarm.Backend { return process.New(slog.New(slog.DiscardHandler)) },
//			Local: true,
//			Shim:  shim,
//		})
//	}
//
// [Run] tests the value itself and then the same value behind the wire, in one process.
// [RunBinary] tests a built plugin, started as a host starts it.
//
// It is imported by tests, and by package
// [github.com/swarmhost/swarm/shared/plugin/plugintest], which checks plugins of all kinds.
package backendtest

import (
	"slices"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// T is what a case needs of a [*testing.T].
type T = harness.T

// Backend describes how to test a backend.
type Backend struct {
	// New returns the backend that a new process of the plugin would have. It is called
	// more than once for one engine: backends hold no state.
	New func(t T) swarm.Backend
	// Local says that the backend is local, see [swarm.Spec.Local].
	Local bool
	// Shim is the path of a built swarm-shim, for local backends that use it.
	Shim string
	// Spec completes a spec before it is spawned, for example with options; may be nil.
	Spec func(t T, spec *swarm.Spec)
	// Command returns the command that carries out the script; nil means [script.Shell].
	Command func(s script.Script) []string
	// Handles are old handles of the backend, of every version before the current one.
	// Their workers need not exist.
	Handles []swarm.Handle
}

// Run tests a backend: the value itself in the subtests "direct", and behind the
// wire in the subtests "grpc".
func Run(t *testing.T, b Backend) {
	t.Helper()
	t.Run("direct", func(t *testing.T) { harness.RunTests(t, backendItems(b.settings(), b.direct, b.direct(t, "")), true) })
	t.Run("grpc", func(t *testing.T) { harness.RunTests(t, backendItems(b.settings(), b.wired, b.wired(t, "")), true) })
}

func (b Backend) settings() Binary {
	return Binary{Shim: b.Shim, Spec: b.Spec, Command: b.Command, Handles: b.Handles}
}

// Binary describes how to test a built backend plugin. The fields that it shares with
// [Backend] mean the same.
type Binary struct {
	// Path is the plugin's executable, Args are its arguments.
	Path string
	Args []string
	// Config is sent to the plugin, as JSON; nil sends none.
	Config []byte
	// Env is the plugin's environment; nil: the test's.
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
	return harness.Program{Path: b.Path, Args: b.Args, Env: b.Env, Config: b.Config, Shim: b.Shim}
}

// Items are the cases of a built plugin that runs as p; each starts it anew.
func (b Binary) Items(t T, p *harness.Process) []harness.Item {
	t.Helper()
	return backendItems(b, b.open, built(t, p))
}

func (b Binary) open(t T, runDirs string) subject {
	t.Helper()
	return built(t, b.Program().Start(t, client.RunDirs(runDirs)))
}

func built(t T, p *harness.Process) subject {
	t.Helper()
	s := remote(t, p.Client)
	s.plugin = p
	return s
}

// testCase checks one rule of the contract.
type testCase struct {
	name string
	scope
	// rule is the sentence of the contract.
	rule string
	run  func(k *kit)
}

func newCase(name string, s scope, rule string, run func(k *kit)) testCase {
	return testCase{name, s, rule, run}
}

// scope says for which backends a rule is; the zero value: for all.
type scope struct {
	// needs and also are the capabilities without which the rule does not apply.
	needs, also swarm.Capability
	// local says that the rule is about processes of this machine.
	local bool
	// built says that the rule is about the process of a built plugin.
	built bool
	// alone is described at [harness.Item].
	alone bool
}

func backendCases() []testCase {
	return slices.Concat(spawnCases(), foreseeCases(), statusCases(), handleCases(), movedCases(), badHandleCases(), endedCases(), killCases(), treeCases(),
		batchCases(), watchCases(), outputCases(), transcriptCases(), inputCases(), signalCases(), screenCases(), statsCases(), boundsCases(),
		attachCases(), execCases(), copyCases(), forwardCases(), completeCases(), restartCases(), ownerCases(), sandboxCases(), listCases(), sweepCases(),
		crashCases(), capabilityCases(), olderCases(), deadlineCases(), manyCases())
}
