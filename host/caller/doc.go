// Package caller identifies the caller: a person, an agent of a team, or a program that
// can't be attributed to any caller. It climbs from the calling process to the nearest shim,
// believes tokens and run directories that only this user could have written, and reads the
// environment where nothing better exists. It does not decide about rights: package
// host/team does.
package caller

import (
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
)

// Finder identifies the caller. It holds no state, and may be used by several goroutines. Its
// fields are what it needs.
type Finder struct {
	// Dir is the state directory.
	Dir statedir.Dir
	// Store is the registry of the directory.
	Store *store.Store
	// Env is the caller's environment, KEY=VALUE.
	Env []string
	// Client says that the calling process serves its parent, as an MCP server does.
	Client bool
	// ClientIsPerson is the user's word that the client acts for them alone. It counts
	// only outside of workers.
	ClientIsPerson bool
	// Worker is the id of the worker whose processes the calling process serves, whatever
	// its environment and the processes above it say; empty: it serves one worker. It is for
	// servers of workers that have no way to call themselves.
	Worker string
}
