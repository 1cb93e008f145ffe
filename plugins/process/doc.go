// Package process is the backend for raw background processes.
//
// A worker is a process of its own session, without a terminal, under a
// swarm-shim that keeps its output and its exit; see
// [github.com/swarmhost/swarm/shared/shim]. The backend itself holds nothing: a
// handle names the run directory, and every answer comes from there.
//
// Only cmd/swarm-plugins imports it.
package process

// Version is the version of the plugin, for people.
const Version = "0.1.0"
