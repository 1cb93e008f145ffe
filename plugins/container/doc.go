// Package container is the backend for workers in containers of Docker or Podman.
//
// A worker is one container, whose name holds the worker's id, so that the engine itself
// refuses a second worker of an id. Its labels hold the worker's id and name and the state
// directory of the host; a container without the right labels is never touched. The engine
// is reached through a socket of this machine, by the API of Docker, which Podman speaks
// as well.
//
// The engine keeps the container, the exit of its main process and the output. The
// worker's run directory holds the rest, see [note]: which kills there were, and since
// when it runs. The container outlives the worker and is removed by Sweep once the
// host has removed the run directory.
//
// Only cmd/swarm-engines imports it.
package container

// Version is the version of the plugin, for people.
const Version = "0.1.0"
