// Package task is "swarm task": the tasks of a team.
package task
