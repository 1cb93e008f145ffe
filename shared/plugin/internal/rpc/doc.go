// Package rpc is the plugin's side of the protocol: it serves a
// [swarm.Backend] or a [swarm.Workspace] over gRPC, and supplies what their
// authors need not care about: one call for many workers, panics, limits, and
// an end that does not wait for ever.
//
// It is imported by [github.com/swarmhost/swarm/shared/plugin] and the packages
// under it.
package rpc
