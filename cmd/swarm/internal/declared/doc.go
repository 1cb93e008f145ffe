// Package declared holds the workers that swarm.toml declares, and what is wrong with them.
package declared
