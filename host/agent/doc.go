// Package agent runs teams: it makes and dissolves them, starts agents as workers
// of a team, negotiates their end or forces it, and tells how they are.
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
// Each function takes the host, whose caller it acts as, and stands for one tool.
// Those that change something first look at what has happened to the agents of
// the team since anybody looked. [Status] changes nothing at all.
//
// An answer may hold a function to be called once it has been written: the caller
// of these functions may itself run in the worker that ends.
//
// The package is imported by host/tool, and through that by cmd/swarm and
// host/mcp. It imports host, host/registry, host/team and shared/swarm.
package agent
