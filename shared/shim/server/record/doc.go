// Package record keeps what a worker writes: the log, a file of lines with their time and
// stream, and the transcript, the raw bytes. Both keep the newest output within a cap, and
// never make the worker wait for more than the file system does. A full disk costs output,
// which is counted, and nothing else.
//
// The formats are those of [github.com/swarmhost/swarm/shared/shim/rundir].
package record
