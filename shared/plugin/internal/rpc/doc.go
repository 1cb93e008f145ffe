// Package rpc is the plugin's side of the protocol: it serves a [swarm.Backend] or a
// plugin of another kind over gRPC, and handles calls for many workers, panics, limits and the
// shutdown for their authors.
//
// It is imported by [github.com/swarmhost/swarm/shared/plugin] and the packages
// under it.
package rpc
