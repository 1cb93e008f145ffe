// Package courier tells the agents of teams what is waiting for them. A courier is a
// process that waits until an agent is at its prompt and types one line there; an agent
// whose hooks ask is given the line by them. Nothing is told twice: what a line tells of is
// recorded as being brought before it is typed.
package courier
