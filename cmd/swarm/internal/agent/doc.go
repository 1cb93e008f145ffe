// Package agent is "swarm agent": the agents of a team are started, shown and ended.
package agent
