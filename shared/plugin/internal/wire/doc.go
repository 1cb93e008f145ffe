// Package wire converts between the contract of
// [github.com/swarmhost/swarm/shared/swarm] and its protobuf messages, errors
// included. Both sides of a connection use it.
//
// No conversion panics or fails, whatever a peer sends: an enumeration value of a newer
// peer becomes the zero value, a missing message becomes the value that its absence means,
// and invalid UTF-8 in text is replaced.
//
// It is imported by [github.com/swarmhost/swarm/shared/plugin] and the packages
// under it.
package wire
