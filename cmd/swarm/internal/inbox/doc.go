// Package inbox is "swarm inbox": the messages of a team.
package inbox
