// Package integration knows the configuration and the hooks of coding agents: where their
// files are, which entries make an agent use swarm, and the input and output of an agent's
// hooks.
//
// It edits texts and never decodes a file to write it again: comments, order and
// everything that is not swarm's are preserved. It is imported by the commands of cmd
// alone.
package integration
