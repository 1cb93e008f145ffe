// Package swarm is the contract between the swarm host and its plugins. It is all that the
// author of a plugin has to read.
//
// # Vocabulary
//
//   - A worker is one command that is kept running: a coding agent, a shell, a
//     dev server. It has a name, chosen by its user, and an id, chosen by the
//     host, which is never used twice.
//   - A backend owns workers: it starts them, reports their status, ends them.
//     Every backend is a plugin, a process of its own that the host starts on
//     demand and that holds no state. It implements [Backend].
//   - A handle is what a backend returns from Spawn: a few bytes, opaque to the
//     host, from which any later process of the same plugin finds the worker
//     again. The host stores it; see [Handle].
//   - A workspace is a directory made for one worker, such as a git worktree.
//     Workspaces are made and removed by another kind of plugin, which
//     implements [Workspace].
//   - A tool is a named function of a plugin that people and agents call. Tools are offered by a
//     third kind of plugin, which implements [Toolbox], and by plugins of the other kinds in
//     addition.
//   - A notifier reports what happens to workers to people or other programs. It is the fourth
//     kind of plugin, which implements [Notifier].
//   - A capability is an optional interface of one method, such as [Watcher]. A
//     plugin has the capabilities that its value implements; the SDK finds them
//     by type assertion and reports them to the host. See [CapabilitiesOf].
//   - A worker's shim, such as swarm-shim, is the process that watches it on the
//     backend's behalf and outlives all calls. It observes how the worker ends, and
//     carries out what must not depend on a host or a plugin: [Restart], [Owner],
//     [Completion].
//   - A completion is a worker's own report that it is done, see [Completer].
//   - A local backend runs its workers on the host's machine, as the host's
//     user. It declares this when it is served, and only then is [Spec.Local] set.
//     Nothing else in this package assumes a local process or a local file.
//
// # Life of a worker
//
// The host writes a record with the new id, then calls Spawn, then writes the
// handle into the record. From then on it calls Status and Kill with the
// handle, from many processes, concurrently and in any order. If the host was
// killed between Spawn and the record, the next one asks [Finder] for the worker
// with that id. A plugin is killed without warning when its host ends: whatever
// has to outlive a call belongs in the backend's engine, the shim, or the handle.
//
// A worker ends with its main process, unless its restart policy starts it again: then it
// is still the same worker, with the same id and handle. The first event that
// begins to end it (an exit, a kill, a completion or the end of its owner) is the cause of
// its end, which never changes, see [Cause].
//
// # Concurrency, contexts, errors
//
// All methods may be called concurrently. All obey their context: when it ends
// they return its error soon, and their work is either completed or undone.
// Errors wrap a sentinel of this package wherever one fits; the SDK carries the
// sentinel and the text of the error over the wire, and [errors.Is] returns the
// same on both sides. Text is written for the user: lower case, what failed and
// what to do, no stack of prefixes.
//
// # Versions
//
// [ContractVersion] counts incompatible changes of this package. Adding a field
// or a capability is compatible: a zero value always means what its absence
// meant before. An enumeration value that the reader does not know reads as its
// zero value, which is always the cautious one.
//
// The package imports the standard library only. It is imported by everything;
// it imports nothing of swarm.
package swarm

// ContractVersion is the newest version of this contract that this package describes, and
// OldestContractVersion is the oldest that the SDK and the host speak as well: the one before, at
// least. A host and a plugin speak the newest version that both speak, and work together only if
// there is one.
const (
	ContractVersion       = 1
	OldestContractVersion = 1
)
