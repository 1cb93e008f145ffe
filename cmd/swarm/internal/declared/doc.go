// Package declared holds the workers that swarm.toml declares, and finds their mistakes.
package declared
