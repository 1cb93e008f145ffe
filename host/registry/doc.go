// Package registry keeps the records of all workers of one state directory in
// one SQLite file: what was asked for, which backend owns it, its handle, how it
// ended. Next to them it keeps their history, a list of events that outlives the
// records, and which run directories are still to be removed; and the teams with
// their agents, tasks and messages, which are rows here and nothing more: what may
// become of them is decided in [github.com/swarmhost/swarm/host/team].
//
// The registry does not say whether a worker lives. A record is starting from
// its insertion until its spawn is done, then running until its end is known,
// then stopped; "running" only means that no end is recorded.
//
// # Concurrency
//
// Any number of processes use the file at the same time. Every change is one
// immediate transaction, which waits for its turn: deferred ones fail at once
// when two of them want to write. A change reads what it is about to change in
// the same transaction, see [Registry.Change]. So does the history: what a change
// does to a record and the events that report it are one transaction, and of
// several final events of a worker the first one stays, see [Tx.Append].
//
// # Damage
//
// A file that can't be read is [ErrDamaged], and one that is gone while run
// directories exist is [ErrMissing]: the registry never starts anew over the
// workers of an old one. A single record that can't be read is left out and
// reported. The readable rest of the history and of the teams goes into the
// database that takes the place of a damaged one, see [Salvage]. A file written by a
// newer swarm is [ErrNewer] and is not touched.
//
// The package is imported by host and the packages under it, and is the only one
// that imports a database.
package registry
