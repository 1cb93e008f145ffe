package tmux

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/swarm"
)

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

// handle is what is needed to find a worker again, with and without its window.
type handle struct {
	// ID is the worker's id.
	ID string `json:"id"`
	// Dir is its run directory, absolute.
	Dir string `json:"dir"`
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

func (h handle) encode() (swarm.Handle, error) {
	b, err := json.Marshal(h)
	if err != nil {
		return swarm.Handle{}, err
	}
	if len(b) > swarm.MaxHandle {
		return swarm.Handle{}, fmt.Errorf("%w: the paths of the run directory and the tmux socket are too long", swarm.ErrInvalidSpec)
	}
	return swarm.Handle{Version: handleVersion, Data: b}, nil
}

func decode(raw swarm.Handle) (handle, error) {
	var h handle
	if raw.Version != handleVersion {
		return h, fmt.Errorf("%w: version %d is not known to this plugin", swarm.ErrInvalidHandle, raw.Version)
	}
	if err := json.Unmarshal(raw.Data, &h); err != nil {
		return h, fmt.Errorf("%w: %w", swarm.ErrInvalidHandle, err)
	}
	if h.ID == "" || !filepath.IsAbs(h.Dir) {
		return h, fmt.Errorf("%w: it names no worker", swarm.ErrInvalidHandle)
	}
	return h, nil
}

// server is the tmux server that the worker was started in.
func (h handle) server() server { return server{label: h.Label, socket: h.Socket} }

// where says where the window is, or was when it was last seen.
func (h handle) where(session, window string) swarm.Where {
	return swarm.Where{
		Kind:  "tmux window",
		Name:  session + ":" + window,
		Parts: map[string]string{"session": session, "window": window, "socket": h.Label},
	}
}
