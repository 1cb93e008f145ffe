// Package catalog finds plugins. A plugin is an executable named
// swarm-plugin-<name>; the ones that come with swarm are found in the same way
// as everybody else's.
//
// The places, the first that has it wins:
//
//  1. a config entry with a command;
//  2. the directory of the swarm executable, as it was called and with symbolic
//     links resolved;
//  3. ../libexec/swarm from there;
//  4. what "swarm plugin install" installed, in plugins/NAME/VERSION of the state
//     directory, the newest version;
//  5. plugins in the state directory;
//  6. the absolute directories of PATH. Relative ones are passed over: what lies
//     in the directory that somebody happens to be in must not run.
//
// A config entry with a version means an installed one, before all others.
//
// A plugin that another user may have written is refused, see [Entry.Check].
//
// The package is imported by host and host/launch. It starts nothing and imports
// nothing of swarm.
package catalog
