// Package tool holds the tools that agents can call: background shells, workers, teams,
// messages, tasks. Each tool is a name, a description, an input type, an output type and a
// function over the host. It is defined once, in the table behind [All]: the MCP server and
// `swarm tool` call it with JSON, through [Tool.Call], and the verbs of the command line
// call the same tool as a Go function, such as [KillAgent].
//
// # Input and output
//
// The JSON Schemas are derived from the Go types at the first use: names come from the json
// tags, descriptions from the jsonschema tags, defaults and bounds from the schema tags. An
// input is checked against its schema before anything else happens; all its mistakes are
// one [InputError]. An answer fits its schema even after an error: it then has success
// false, and the text of the error.
//
// The functions for Go return such an answer together with the error. An input of theirs is
// checked too; an optional field that is empty has its default. A bool whose default is
// true is taken literally.
//
// # Who may
//
// Nothing here decides about rights. Each call is made as the caller that the host finds,
// and the packages below refuse forbidden calls.
//
// The package is imported by host/mcp and cmd/swarm. It imports host and what is
// below that, and neither knows a wire nor prints.
package tool
