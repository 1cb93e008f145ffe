// Package top shows the workers of a host in one person's terminal, full screen, and lets
// the person act on them. `swarm top` starts it through the program swarm-serve, the only
// importer.
//
// All facts come from host/dash, which pages in a browser show too: the package decides
// only how they look and what keys do. It has three parts, which are kept apart: the model
// (what is selected, what was typed), its update (keys, mouse, messages) and its view
// (lines of text). Calls that take time run concurrently, in a session, which answers by messages.
//
// Text of workers reaches the terminal through shared/safetext, and each line of it through
// [rowsOf], which lets nothing through but letters and colours, and never more cells than
// there is space for.
package top
