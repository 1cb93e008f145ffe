package ssh

import (
	"encoding/json"
	"fmt"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/swarm"
)

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

// ref is the content of a handle.
type ref struct {
	// Host is the host as the user named it.
	Host string `json:"host"`
	// Worker is the worker over there.
	Worker remote.Handle `json:"worker"`
}

func (r ref) encode() (swarm.Handle, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return swarm.Handle{}, err
	}
	if len(data) > swarm.MaxHandle {
		return swarm.Handle{}, fmt.Errorf("%w: the path of the run directory on %s is too long", swarm.ErrInvalidSpec, r.Host)
	}
	return swarm.Handle{Version: handleVersion, Data: data}, nil
}

func decode(h swarm.Handle) (ref, error) {
	var r ref
	if h.Version != handleVersion {
		return r, fmt.Errorf("%w: version %d, this plugin knows version %d", swarm.ErrInvalidHandle, h.Version, handleVersion)
	}
	if err := json.Unmarshal(h.Data, &r); err != nil {
		return r, fmt.Errorf("%w: %w", swarm.ErrInvalidHandle, err)
	}
	if !validHost(r.Host) || r.Worker.Kind == "" {
		return r, fmt.Errorf("%w: it names no worker on a host", swarm.ErrInvalidHandle)
	}
	return r, nil
}

func (r ref) far() (swarm.Handle, error) {
	r.Worker.Host = r.Host
	return r.Worker.Encode()
}

// near returns the handle of a worker over there, as this side writes it.
func near(host string, far swarm.Handle) (swarm.Handle, error) {
	w, err := remote.Decode(far)
	if err != nil {
		return swarm.Handle{}, err
	}
	return ref{Host: host, Worker: w}.encode()
}
