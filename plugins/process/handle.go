package process

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/swarm"
)

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

// handle is what is needed to find a worker again.
type handle struct {
	// ID is the worker's id.
	ID string `json:"id"`
	// Dir is its run directory, absolute.
	Dir string `json:"dir"`
}

func (h handle) encode() (swarm.Handle, error) {
	b, err := json.Marshal(h)
	if err != nil {
		return swarm.Handle{}, err
	}
	if len(b) > swarm.MaxHandle {
		return swarm.Handle{}, fmt.Errorf("%w: the path of the run directory is too long", swarm.ErrInvalidSpec)
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
