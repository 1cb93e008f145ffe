package remote

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/rawjson"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

const (
	KindProcess  = "process"
	KindTerminal = "tmux"
)

// Handle is the content of a handle: the kind of the worker, and the handle of the backend
// that owns it over there.
type Handle struct {
	Kind    string `json:"kind"`
	Version uint32 `json:"version"`
	Data    string `json:"data"`
	// Origin is where the worker was started.
	Origin Origin `json:"origin,omitzero"`
	// Host is the name by which the caller knows the machine, in a call.
	Host string `json:"host,omitempty"`
	// Drop is the id of a state directory in which the worker has no record any more, in a call
	// of Sweep: what the worker has left is removed if it belongs to that one.
	Drop string `json:"drop,omitempty"`
	// From is where to read the output from, in a call of Output.
	From client.Position `json:"from,omitzero"`
}

func (h Handle) Encode() (swarm.Handle, error) {
	data, err := json.Marshal(h)
	return swarm.Handle{Version: handleVersion, Data: data}, err
}

// Decode reads what Encode wrote.
func Decode(raw swarm.Handle) (Handle, error) {
	var h Handle
	if raw.Version != handleVersion {
		return h, fmt.Errorf("%w: version %d is not known to swarm-remote", swarm.ErrInvalidHandle, raw.Version)
	}
	if err := json.Unmarshal(raw.Data, &h); err != nil {
		return h, fmt.Errorf("%w: %w", swarm.ErrInvalidHandle, err)
	}
	if h.Kind != KindProcess && h.Kind != KindTerminal {
		return h, fmt.Errorf("%w: it names no worker", swarm.ErrInvalidHandle)
	}
	return h, nil
}

func handleOf(r record, inner swarm.Handle) Handle {
	return Handle{Kind: r.Kind, Version: inner.Version, Data: string(inner.Data), Origin: r.Origin}
}

func (h Handle) inner() swarm.Handle { return swarm.Handle{Version: h.Version, Data: []byte(h.Data)} }

func (h Handle) ID() (string, error) {
	w, err := h.worker()
	return w.ID, err
}

// worker returns the id and the run directory when the worker was started, which every handle of
// a worker with a shim has.
func (h Handle) worker() (shim.Worker, error) {
	var w shim.Worker
	if err := rawjson.Unmarshal([]byte(h.Data), &w); err != nil || w.ID == "" || !filepath.IsAbs(w.Dir) {
		return w, fmt.Errorf("%w: it names no run directory", swarm.ErrInvalidHandle)
	}
	return w, nil
}

// worker returns the id of a worker, and its run directory where that is now.
func (b *Backend) worker(h Handle) (shim.Worker, error) {
	w, err := h.worker()
	if err != nil {
		return w, err
	}
	if !validID(w.ID) {
		return w, fmt.Errorf("%w: %q is not an id", swarm.ErrInvalidHandle, w.ID)
	}
	w.Dir = b.store.runDir(w.ID)
	return w, nil
}
