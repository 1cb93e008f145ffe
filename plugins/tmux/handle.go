package tmux

import (
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
	// Session, Window and Pane are where the worker was started: the name of the
	// session, and the ids @N and %N.
	Session string `json:"session"`
	Window  string `json:"window,omitempty"`
	Pane    string `json:"pane,omitempty"`
}

func (h handle) encode() (swarm.Handle, error) { return shim.EncodeHandle(handleVersion, h) }

func decode(raw swarm.Handle) (handle, error) {
	return shim.DecodeHandle[handle](raw, handleVersion)
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

// ours is a format that is true in the worker's window.
func (h handle) ours() string { return "#{==:#{" + optWorkerID + "}," + h.ID + "}" }

// ifOurs returns a command that runs others only if the window is the worker's. Ids of
// windows start again with every server.
func (h handle) ifOurs(commands ...[]string) []string {
	return []string{"if-shell", "-F", "-t", h.Window, h.ours(), line(commands)}
}
