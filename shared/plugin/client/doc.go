// Package client is the host's side of a plugin: it carries the calls of
// [github.com/swarmhost/swarm/shared/swarm] to a plugin that
// [github.com/swarmhost/swarm/shared/plugin] serves in another process. A host starts the binary
// with hashicorp/go-plugin, given [Handshake] and [Plugins], and hands the dispensed value to
// [Connect].
//
// The host's launcher, the kit and the plugin for ssh import it. No author of a plugin needs it,
// and it is not among the promised packages.
package client
