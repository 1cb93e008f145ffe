// Package catalog finds plugins. A plugin is an executable named swarm-plugin-<name>;
// swarm's own plugins are found in the same way as all others.
//
// The places are searched in this order:
//
//  1. a config entry with a command;
//  2. the directory of the swarm executable, as it was called and with symbolic links
//     resolved;
//  3. ../libexec/swarm from there;
//  4. what "swarm plugin install" installed, in plugins/NAME/VERSION of the state
//     directory, the newest version;
//  5. plugins in the state directory;
//  6. the absolute directories of PATH. Relative ones are skipped: a program in the current
//     directory must not run by accident.
//
// A config entry with a version means an installed one, before all others.
//
// A plugin that another user may have written is refused, see [Entry.Check].
//
// The package is imported by host and host/launch. It starts nothing and imports
// nothing of swarm.
package catalog
