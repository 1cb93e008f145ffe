// Package workers has the verbs that start, show, change and end workers; docs/architecture.md lists
// them.
package workers
