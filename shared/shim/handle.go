package shim

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Worker is what every handle of a worker with a shim holds. A backend embeds it
// in the value that it writes with [EncodeHandle].
type Worker struct {
	// ID is the worker's id.
	ID string `json:"id"`
	// Dir is its run directory, absolute.
	Dir string `json:"dir"`
}

func (w Worker) named() bool { return w.ID != "" && filepath.IsAbs(w.Dir) }

// EncodeHandle returns a handle of a version, with h as JSON. If it is too large, the error
// is [swarm.ErrInvalidSpec], since its paths are too long.
func EncodeHandle(version uint32, h any) (swarm.Handle, error) {
	b, err := json.Marshal(h)
	if err != nil {
		return swarm.Handle{}, err
	}
	if len(b) > swarm.MaxHandle {
		return swarm.Handle{}, fmt.Errorf("%w: the path of the run directory is too long", swarm.ErrInvalidSpec)
	}
	return swarm.Handle{Version: version, Data: b}, nil
}

// DecodeHandle reads what [EncodeHandle] wrote of a value that embeds [Worker].
// All else is [swarm.ErrInvalidHandle].
func DecodeHandle[H interface{ named() bool }](raw swarm.Handle, version uint32) (H, error) {
	var h H
	if raw.Version != version {
		return h, fmt.Errorf("%w: version %d is not known to this plugin", swarm.ErrInvalidHandle, raw.Version)
	}
	if err := json.Unmarshal(raw.Data, &h); err != nil {
		return h, fmt.Errorf("%w: %w", swarm.ErrInvalidHandle, err)
	}
	if !h.named() {
		return h, fmt.Errorf("%w: it names no worker", swarm.ErrInvalidHandle)
	}
	return h, nil
}
