// Package member holds what the verbs of members of teams share: the flags that name a team, the
// answers of tools, and how agents and tasks are shown.
package member
