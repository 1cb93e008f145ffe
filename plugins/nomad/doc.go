// Package nomad is the backend for workers on a HashiCorp Nomad cluster.
//
// A worker is a batch job of one group and one task. The job is named after the worker, so
// that Nomad itself refuses a second worker of a name in a namespace; the group is named
// after the worker's id, so that an allocation identifies its worker when a name is used
// again. Nothing restarts or reschedules the task: it runs once.
//
// The backend holds nothing: Nomad keeps the jobs, the ends of their tasks and their logs,
// until it collects them as garbage. The worker of a stopped job was killed; every other
// worker has the exit of its task.
//
// Only cmd/swarm-engines imports it.
package nomad

// Version is the version of the plugin, for people.
const Version = "0.1.0"
