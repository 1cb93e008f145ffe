// Package tool is "swarm tool": it lists, describes and calls the tools of agents. It also
// holds "swarm tasks" and "swarm mcp", which serve the same table.
package tool
