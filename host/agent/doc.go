// Package agent runs teams: it makes and dissolves them, starts agents as workers
// of a team, negotiates their end or forces it, and tells how they are.
//
// # What it decides
//
// What is allowed and what a state turns into is host/team's; how a worker is
// started and ended is host's. This package puts both in an order in which a
// crash at any moment leaves either the state before or one that the next changing
// call brings to its end: a process is ended before its agent is recorded as
// terminated, a keeper is told of an end before the team is.
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
