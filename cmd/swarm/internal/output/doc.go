// Package output holds what a call of swarm says: lines and tables made fit for a terminal,
// JSON, the progress of a kill, and the errors that carry exit codes and hints.
package output
