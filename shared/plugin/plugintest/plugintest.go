package plugintest

import (
	"context"
	"slices"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// T is what a case needs of a [*testing.T].
type T interface {
	Helper()
	Name() string
	Context() context.Context
	TempDir() string
	Cleanup(f func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Backend says how to test a backend.
type Backend struct {
	// New returns the backend as a new process of the plugin would have it. It is
	// called more than once for one engine: backends hold no state.
	New func(t T) swarm.Backend
	// Local says that the backend is local, see [swarm.Spec.Local].
	Local bool
	// Shim is the path of a built swarm-shim, for local backends that use it.
	Shim string
	// Spec completes a spec before it is spawned, with options for instance. Nil:
	// it is complete.
	Spec func(t T, spec *swarm.Spec)
	// Command returns the command that does what the script says. Nil: [Shell].
	Command func(s Script) []string
}

// Binary says how to test a built backend plugin. The fields that it shares with
// [Backend] mean the same.
type Binary struct {
	// Path is the plugin's executable, Args are its arguments.
	Path string
	Args []string
	// Config is sent to the plugin, as JSON; nil: none.
	Config []byte
	// Env is the plugin's environment; nil: that of the test.
	Env     []string
	Shim    string
	Spec    func(t T, spec *swarm.Spec)
	Command func(s Script) []string
}

// Run tests a backend: the value itself in the subtests "direct", and behind the
// wire in the subtests "grpc".
func Run(t *testing.T, b Backend) {
	t.Helper()
	t.Run("direct", func(t *testing.T) { runCases(t, b.settings(), b.direct) })
	t.Run("grpc", func(t *testing.T) { runCases(t, b.settings(), b.wired) })
}

// RunBinary tests a built plugin, which it starts anew for every case.
func RunBinary(t *testing.T, b Binary) {
	t.Helper()
	runCases(t, b.settings(), b.open)
}

// settings are what the cases need to know, whatever the way to the backend.
type settings struct {
	shim    string
	spec    func(t T, spec *swarm.Spec)
	command func(s Script) []string
}

func (b Backend) settings() settings {
	return settings{shim: b.Shim, spec: b.Spec, command: b.Command}
}

// subject is a backend and what it says that it can do.
type subject struct {
	swarm.Backend
	caps  []swarm.Capability
	local bool
	crash func() // kills the plugin's process; nil if it has none of its own
}

func (s subject) has(c swarm.Capability) bool { return c == "" || slices.Contains(s.caps, c) }

// opener makes the backend as a new process would.
type opener func(t T) subject

func (b Backend) direct(t T) subject {
	backend := b.New(t)
	return subject{Backend: backend, caps: swarm.CapabilitiesOf(backend), local: b.Local}
}

// testCase checks one rule of the contract.
type testCase struct {
	name string
	// rule is the sentence of the contract.
	rule string
	// needs and also are the capabilities without which the rule says nothing.
	needs, also swarm.Capability
	// local says that the rule is about processes of this machine.
	local bool
	// crash says that the rule is about the death of the plugin's process.
	crash bool
	run   func(k *kit)
}

func backendCases() []testCase {
	return slices.Concat(spawnCases(), statusCases(), handleCases(), killCases(), treeCases(),
		batchCases(), waitCases(), watchCases(), outputCases(), transcriptCases(), inputCases(), signalCases(), screenCases(),
		attachCases(), completeCases(), restartCases(), ownerCases(), findCases(), sweepCases(),
		crashCases(), crashInputCases())
}

func runCases(t *testing.T, s settings, open opener) {
	t.Helper()
	probe := open(t)
	for _, c := range backendCases() {
		if !c.applies(probe) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, s, open)
		})
	}
}

// applies reports whether the rule says anything about the backend.
func (c testCase) applies(s subject) bool {
	return s.has(c.needs) && s.has(c.also) && (s.local || !c.local) && (s.crash != nil || !c.crash)
}

// check runs the case.
func (c testCase) check(t T, s settings, open opener) {
	t.Helper()
	c.run(newKit(t, c, s, open))
}
