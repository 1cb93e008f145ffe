// Package nomad is the backend for workers on a HashiCorp Nomad cluster.
//
// A worker is a batch job of one group and one task. The job is named after the
// worker, so that Nomad itself refuses a second worker of a name in a namespace;
// the group is named after the worker's id, so that an allocation tells whose it
// is when a name is used again. Nothing restarts or reschedules the task: it runs
// once, or it is gone.
//
// The backend holds nothing: Nomad keeps the jobs, the ends of their tasks and
// their logs, until it collects them as garbage. A job that was stopped is a
// worker that was killed; of every other one the exit is that of its task.
//
// Only cmd/swarm-plugin-nomad imports it.
package nomad

// Version is the version of the plugin, for people.
const Version = "0.1.0"
