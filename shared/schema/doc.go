// Package schema describes the settings of a plugin and the options of its workers or workspaces. A
// [Schema] is made of a struct with tags ([Of]), travels as a subset of JSON Schema ([Parse]), and
// decodes and checks values strictly: an unknown key is a [Problem] that names the key that was
// probably meant.
//
// Plugins use it through [github.com/swarmhost/swarm/shared/plugin]; the host checks, completes,
// documents and redacts settings with it. docs/protocol.md has the subset.
package schema
