// Package plugintest checks a built plugin of any kind against the contract of
// [github.com/swarmhost/swarm/shared/swarm], outside of a test, as `swarm plugin check` does:
// see [Check].
//
// Authors who write Go call the packages below it from an ordinary test:
// [github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest] for a backend,
// [github.com/swarmhost/swarm/shared/plugin/plugintest/workspacetest] for a workspace plugin,
// [github.com/swarmhost/swarm/shared/plugin/plugintest/toolstest] for tools, and
// [github.com/swarmhost/swarm/shared/plugin/plugintest/notifiertest] for a notifier.
//
// Package [github.com/swarmhost/swarm/shared/plugin/plugintest/fake] has a backend in memory
// that keeps all rules, for tests of hosts.
//
// It is imported by cmd/swarm-serve.
package plugintest
