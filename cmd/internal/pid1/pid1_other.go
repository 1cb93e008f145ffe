//go:build !linux

// Package pid1 makes swarm a good first process of a container, which only Linux has.
package pid1

// Run returns false: no process here is the first one of a container.
func Run(...string) (code int, ok bool) { return 0, false }

// Inside returns false.
func Inside() bool { return false }
