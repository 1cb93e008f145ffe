// Package agent runs teams: it creates and deletes them, starts agents as workers of a
// team, negotiates or forces their end, and reports their status.
//
// # What it decides
//
// Package host/team decides about rights and states; package host starts and ends workers.
// This package puts both into an order in which a crash at any moment leaves either the
// previous state or one that the next changing call completes: a process is ended before
// its agent is recorded as terminated, and a shim learns of an end before the team does.
//
// # Calls
//
// Each function takes the host, acts as its caller, and implements one tool. Functions that
// change something first record what has happened to the agents of the team since the last
// call. [Status] changes nothing at all.
//
// An answer may hold a function that is to be called after the answer was written: the
// caller may itself run in the worker that ends.
//
// The package is imported by host/tool, and through that by cmd/swarm and
// host/mcp. It imports host, host/registry, host/team and shared/swarm.
package agent
