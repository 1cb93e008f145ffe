// Package workers has the verbs that start, show and end workers: spawn, ls, status, logs, wait,
// kill, respawn, clean, adopt.
package workers
