// Package plugintest tests a plugin against the contract of
// [github.com/swarmhost/swarm/shared/swarm]. Every case names the rule that it
// checks, so that a failure reads as the sentence of the contract that was
// broken.
//
// An author calls it from an ordinary test:
//
//	func TestContract(t *testing.T) {
//		plugintest.Run(t, plugintest.Backend{
//			New: func(t plugintest.T) swarm.Backend { return process.New(hclog.NewNullLogger()) },
//			Local: true,
//			Shim:  shim,
//		})
//	}
//
// [Run] tests the value itself and then the same value behind the wire, in one
// process. [RunBinary] tests a built plugin, started as a host starts it.
// Package [github.com/swarmhost/swarm/shared/plugin/plugintest/workspacetest] does the same
// for workspace plugins.
//
// Package [github.com/swarmhost/swarm/shared/plugin/plugintest/fake] has a
// backend in memory that passes, for tests of hosts.
//
// [Check] runs the cases of a built plugin outside of a test, as `swarm plugin check`
// does.
//
// It is imported by tests, and by cmd/swarm-conformance.
package plugintest
