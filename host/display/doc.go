// Package display reads the screens and the output of workers: their lines, their
// readiness, and the states of agents. It asks backends for screens, reads those with the
// profiles of agents, and weighs the reports of hooks against them. It writes only the
// events about states, into a database that it is given.
package display
