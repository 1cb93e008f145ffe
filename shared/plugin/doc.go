// Package plugin carries the contract of
// [github.com/swarmhost/swarm/shared/swarm] over a process boundary.
//
// The author of a plugin calls [Serve] from main and reads nothing else here:
//
//	func main() {
//		plugin.Serve(plugin.Options{
//			Name:    "process",
//			Version: "1.0.0",
//			Local:   true,
//			Backend: func(ctx context.Context, env plugin.Env) (swarm.Backend, error) {
//				return process.New(env.Logger), nil
//			},
//		})
//	}
//
// The binary is named swarm-plugin-<name>. Package
// [github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest] tests it against the
// contract, workspacetest next to it a workspace plugin.
//
// Package [github.com/swarmhost/swarm/shared/plugin/client] is the other side, for hosts.
//
// The package imports the contract and small packages below shared, and no package of the host.
// No type of protobuf, gRPC, go-plugin or hclog is in its API.
package plugin
