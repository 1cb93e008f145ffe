// Package ssh is the backend for workers on other machines that are reached by ssh.
//
// Over there the backends for one machine do the work, in the program swarm-remote, which
// is copied there once; see [github.com/swarmhost/swarm/plugins/ssh/remote]. This package
// holds a connection to each host while it is needed, and repeats over a new one what a
// broken connection has cut off. The workers have shims there, so they don't need it.
//
// The system's ssh makes the connections, with the settings of the user; command.go is the
// only file that runs it.
//
// cmd/swarm-plugins imports it.
package ssh

// Version is the version of the plugin, for people.
const Version = "0.1.0"
