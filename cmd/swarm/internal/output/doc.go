// Package output prints the results of a call of swarm: lines and tables made safe for a
// terminal, JSON, the progress of a kill, and the errors that carry exit codes and hints.
package output
