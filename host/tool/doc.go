// Package tool is what agents can call: background shells, teams, messages, tasks.
// Each tool is a name, what it says of itself, an input type, an output type and
// a function over the host. It is written once, in the table behind [All]: the MCP
// server and `swarm tool` call it with JSON, through [Tool.Call], and the verbs of
// the command line call the same as a Go function, such as [KillAgent].
//
// # Input and output
//
// The JSON Schemas are derived from the Go types when somebody asks for them: names
// are those of the json tags, descriptions those of the jsonschema tags, defaults
// and bounds those of the schema tags. An input is checked against its schema
// before anything else happens; what is wrong with it is an [InputError]. An answer
// fits its schema whatever went wrong: it has success false then, and the text of
// the error.
//
// The functions for Go return such an answer together with the error. An input of
// theirs is checked too; an optional field that is empty has its default. A bool
// whose default is true is what it says.
//
// # Who may
//
// Nothing here decides about rights. Each call is made as the caller that the host
// finds, and the packages below refuse what it may not do.
//
// The package is imported by host/mcp and cmd/swarm. It imports host and what is
// below that, and neither knows a wire nor prints.
package tool
