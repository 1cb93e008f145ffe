package tmux

import (
	"context"
	"strconv"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

// handle holds the facts that identify a worker, with or without its window.
type handle struct {
	shim.Worker
	// Name is the worker's name, which its window was given.
	Name string `json:"name"`
	// Label is the -L name of the server's socket as the user gave it, and
	// Socket the path of that socket, absolute.
	Label  string `json:"label,omitempty"`
	Socket string `json:"socket,omitempty"`
	// Session and Window are where the worker was started: the name of the session, and the
	// id @N. Users move panes to other windows and sessions.
	Session string `json:"session"`
	Window  string `json:"window,omitempty"`
	// Pane is the id %N of the worker's pane, wherever that is now; empty if tmux had no pane of
	// the worker any more when the handle was made. PanePID is the process of the pane, which is
	// the shim.
	Pane    string `json:"pane,omitempty"`
	PanePID int    `json:"pane_pid,omitempty"`
}

func (h handle) encode() (swarm.Handle, error) { return shim.EncodeHandle(handleVersion, h) }

func decode(raw swarm.Handle) (handle, error) {
	return shim.DecodeHandle[handle](raw, handleVersion)
}

// handle reads a handle, with the run directory where it is now.
func (b *Backend) handle(ctx context.Context, raw swarm.Handle) (handle, error) {
	h, err := decode(raw)
	h.Dir = b.RunDir(ctx, h.Worker)
	return h, err
}

func workerOf(raw swarm.Handle) (shim.Worker, error) {
	h, err := decode(raw)
	return h.Worker, err
}

func (h handle) server() server { return server{label: h.Label, socket: h.Socket} }

// where returns the last known place of the window.
func (h handle) where(session, window string) swarm.Where {
	return swarm.Where{
		Kind:  "tmux window",
		Name:  session + ":" + window,
		Parts: map[string]string{"session": session, "window": window, "socket": h.Label, "pane": h.Pane},
	}
}

// noWindow is the place of a worker whose window is gone.
func (h handle) noWindow() swarm.Where {
	return swarm.Where{Kind: "tmux window", Parts: map[string]string{"session": h.Session, "socket": h.Label}}
}

// ours is a format that is true in the worker's pane. Ids of panes start again with every
// server, so the pane has the worker's mark; and a user can have a pane respawned, which keeps
// its mark, so its process is the worker's shim.
func (h handle) ours() string {
	return "#{&&:#{==:#{" + optWorkerID + "}," + h.ID + "},#{==:#{pane_pid}," + strconv.Itoa(h.PanePID) + "}}"
}

// is reports whether a pane is the worker's, as [handle.ours] does.
func (h handle) is(p pane) bool {
	return p.id == h.Pane && p.worker == h.ID && p.pid == h.PanePID
}

// ifOurs returns a command that runs others only if the worker's pane is still there.
func (h handle) ifOurs(commands ...[]string) []string {
	return []string{"if-shell", "-F", "-t", h.Pane, h.ours(), line(commands)}
}
