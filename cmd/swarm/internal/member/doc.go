// Package member holds the shared code of the verbs for members of teams: the flags that
// name a team, the answers of tools, and the text of agents and tasks.
package member
