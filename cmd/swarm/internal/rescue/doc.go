// Package rescue is "swarm rescue": the work that was saved from removed worktrees.
package rescue
