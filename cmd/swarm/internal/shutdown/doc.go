// Package shutdown is "swarm shutdown": an agent answers when it is asked to end.
package shutdown
