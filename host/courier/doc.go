// Package courier tells the agents of teams about their waiting messages and tasks. A
// courier is a process that waits until an agent is at its prompt and types one line there;
// an agent with hooks gets the line through a hook. Nothing is told twice: the items of a
// line are recorded as being brought before it is typed.
package courier
