// Package tmux is the backend for workers in tmux windows.
//
// The process of a window's pane is a swarm-shim, which gives the worker a terminal of its
// own inside; see [github.com/swarmhost/swarm/shared/shim]. So the status, the exit and the
// output of a worker come from its run directory, whatever happens to tmux; tmux is only
// used to find the window and to close it.
//
// A worker is known by the id of its pane, by the pane option @swarm_id, which holds the
// worker's id, and by the process of the pane: names are for people, ids begin anew with every
// server, and users move panes between windows and start other programs in them.
// A session that this backend made has the session option @swarm_session.
//
// Only cmd/swarm-plugins imports the package.
package tmux

// Version is the version of the plugin, for people.
const Version = "0.1.0"
