// Package question has the open questions of agents: what each of them asks, since when, and
// who may answer. [Ruler] answers those that the person's own rules decide.
package question
