// Package mcp serves the tools of host/tool, and workers as resources, over the
// Model Context Protocol: one JSON-RPC message a line, from one client, for as long
// as that client lives.
//
// # What is offered
//
// Tools come in sets. By default the server offers the sets that suit the caller, since
// each tool costs the model tokens in every request. The instructions first say who the
// caller is. Answers are text for readers, and the same as structured content.
//
// # Calls
//
// A call opens a host of its own, so calls wait for each other only where a transition of
// the same worker does. A cancelled call is not answered. A call that only reads ends with
// the cancellation, and so does a command in the foreground; all other work that has begun
// continues to its end: no kill is left half done. Work that would take longer than a
// client waits is moved to the background before that.
//
// # The end
//
// [Serve] returns when the input ends or its context does. The background shells of its
// session are ended before it returns; if the process is killed, the shims of the shells
// end them.
//
// # Resources
//
// swarm://workers/NAME is the output of a worker as plain text, its newest part. The list
// follows the registry. A subscriber of a worker is notified when the worker wrote
// something and when its status changes, at most once a second. swarm://inbox is the
// caller's unread messages; reading them there does not mark them as read.
//
// # Tasks
//
// Clients of the version 2026-07-28 that declare the extension for tasks get one for a
// command that takes long; it is a worker, and has its id. The SDK does not know them: their methods are
// added to it, and [conn] carries their ids through subscriptions.
//
// The package is the only one that imports the MCP SDK, and is imported by
// cmd/swarm-serve alone: its size would slow every call of swarm. It imports host and
// what is below that.
package mcp
