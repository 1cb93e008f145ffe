// Package display reads what workers show: the lines of their screens and of their output,
// whether they are ready, and what the agents that run in them do. It asks their backends
// for screens, reads those by the profiles of agents, and weighs what hooks say against
// them. It writes nothing but the events that tell of states, into a database that it is
// given.
package display
