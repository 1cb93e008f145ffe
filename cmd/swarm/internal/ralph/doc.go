// Package ralph is "swarm ralph": loops of one prompt.
package ralph
