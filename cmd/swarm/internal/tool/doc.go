// Package tool is "swarm tool": the tools of agents are listed, described and called; beside them
// "swarm tasks" and "swarm mcp", which serve the same table.
package tool
