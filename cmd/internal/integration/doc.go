// Package integration is what swarm knows of the configuration and the hooks of coding
// agents: where their files are, what has to be in them so that an agent uses swarm, and
// what an agent's hooks say and take as an answer.
//
// It edits texts and never decodes a file to write it again: comments, order and
// everything that is not swarm's are preserved. It is imported by the commands of cmd
// alone.
package integration
